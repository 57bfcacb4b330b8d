import type { Change, Head, LogPoint } from '@weir/config-model';
import type { ChangesPage } from '../../protocol/changes.js';
import type { Traced } from '../../protocol/protocol.js';

export class FollowerCounters {
  changesApplied = 0;
  /** Changes received that were in force already. */
  duplicates = 0;
  /** Requests for changes that had not been received. */
  gaps = 0;
  /** Steps that failed and were retried. */
  feedFailures = 0;
  /** Configurations with another digest than the control plane's: in force, or loaded and rejected. */
  digestMismatches = 0;
  readonly loads = { disk: 0, start: 0, replaced: 0, pruned: 0, lineage: 0, digest: 0, failed: 0 };
}

export type LoadCause = keyof FollowerCounters['loads'];

/** What a follower is doing now. One step is under way in `loading`, `applying`, `fetching` and `announcing`. */
export type FollowerPhase =
  /** Before the first message, or until Redis was tried once. What is in force was on disk. */
  | 'starting'
  | 'loading'
  | 'applying'
  | 'fetching'
  /** Writes its lease to Redis for the first time. */
  | 'announcing'
  /** A step has succeeded; other work of the process may run now. */
  | 'yielding'
  /** A step has failed; the next one begins after a pause, or applies a change that comes meanwhile. */
  | 'retrying'
  /** A newer head is known. The changes up to it are probably on their way. */
  | 'awaiting'
  /** At the head. */
  | 'idle'
  /** `stop()` was called while a step was under way. */
  | 'stopping'
  | 'stopped';

/**
 * Why a step failed: the feed API cannot answer now (`unavailable`), it will not answer (`refused`), a snapshot does
 * not have its digest (`wrongDigest`), or anything else (`other`).
 */
export type FailureKind = 'unavailable' | 'refused' | 'wrongDigest' | 'other';

/** Messages from Redis, in any order, any number of times. */
export type ReceivedEvent =
  | { readonly type: 'changeReceived'; readonly change: Change & Head & Traced }
  | { readonly type: 'headReceived'; readonly head: Head }
  /** The head of a change that no message carries. */
  | { readonly type: 'largeChangeReceived'; readonly head: Head & Traced }
  | { readonly type: 'messagesMissed' };

export type FollowerEvent =
  | ReceivedEvent
  /** Redis was tried once. */
  | { readonly type: 'started' }
  /** A whole configuration was put in force, from the feed or, before `started`, from disk. */
  | { readonly type: 'loaded'; readonly cause: LoadCause; readonly head: Head }
  /** The change is in force, and this is what the target computed as its digest. */
  | { readonly type: 'applied'; readonly point: LogPoint }
  | { readonly type: 'fetched'; readonly page: ChangesPage }
  /** The log no longer reaches back to the revision in force. */
  | { readonly type: 'logPruned' }
  /** The next change came from Redis while the feed API was slow; the request was given up. */
  | { readonly type: 'overtaken' }
  | { readonly type: 'announced' }
  | { readonly type: 'failed'; readonly kind: FailureKind; readonly reason: string }
  | { readonly type: 'resumed' }
  /** The pause after a failed step is over. It may come in another phase: changes are applied meanwhile. */
  | { readonly type: 'retried' }
  /** The wait of `awaiting` is over. It may come late, in any other phase. */
  | { readonly type: 'awaited' }
  | { readonly type: 'stop' };

/** What to do after a transition, in this order. The last one may begin a step; its outcome is an event. */
export type FollowerEffect =
  /** A snapshot from before the revision `atLeast` does not help. */
  | { readonly type: 'load'; readonly cause: LoadCause; readonly atLeast: number }
  | { readonly type: 'apply'; readonly change: Change }
  | { readonly type: 'fetch'; readonly inForce: Head }
  | { readonly type: 'announce'; readonly inForce: Head }
  | { readonly type: 'yield' }
  /** Report `retried` after a pause. It replaces an earlier `pause`. */
  | { readonly type: 'pause'; readonly failures: number }
  /** Report `awaited` after a moment, which is another one for each follower. It replaces an earlier `await`. */
  | { readonly type: 'await' }
  /** Tell the publishers which revision is in force, once announced. */
  | { readonly type: 'acknowledge'; readonly inForce: Head }
  /** What is in force is known to be the newest at this moment. */
  | { readonly type: 'noteAtHead' }
  /** Write a new snapshot to disk if the disk has lost changes. */
  | { readonly type: 'recordIfDue' }
  | {
      readonly type: 'log';
      readonly level: 'warn' | 'error';
      readonly fields: object;
      readonly message: string;
    };
