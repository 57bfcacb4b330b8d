import type { PolicySource, QueryPolicy } from '@weir/policy';
import type { FeedState } from '@weir/policy-feed/state';
import type { PolicyReaders } from '../shared-policy/policy-readers.js';

/** What keeps the policy up to date, in this thread or in one of its own. */
export interface Feed {
  /** The policy, as this thread reads it. */
  readonly source: PolicySource<QueryPolicy>;
  /** Through which lanes read it. */
  readonly readers: PolicyReaders;
  /** Its number among the threads of the system; 0: it has no thread of its own. */
  readonly threadId: number;
  readonly state: () => FeedState;
  /** Rejects when the feed has ended by itself. */
  readonly lost: Promise<never>;
  /** Puts in force what is on disk, then follows the log. Resolves when it is at its head. */
  start(): Promise<void>;
  stop(): Promise<void>;
}
