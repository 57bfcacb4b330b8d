import type { Change, Head, LogPoint } from '@weir/config-model';
import type { ChangesPage } from '../../protocol/changes.js';
import type { Traced } from '../../protocol/protocol.js';

/** Why a follower loaded a whole snapshot. */
export type LoadCause = 'disk' | 'start' | 'replaced' | 'pruned' | 'lineage' | 'digest' | 'failed';

/** Plain counters, read by the process's metrics. */
export interface FollowerCounters {
  changesApplied: number;
  /** Changes received that were in force already. */
  duplicates: number;
  /** Requests for changes that had not been received. */
  gaps: number;
  /** Steps that failed and were retried. */
  feedFailures: number;
  /** Configurations with another digest than the control plane's: in force, or loaded and rejected. */
  digestMismatches: number;
  loads: Record<LoadCause, number>;
}

export function newCounters(): FollowerCounters {
  return {
    changesApplied: 0,
    duplicates: 0,
    gaps: 0,
    feedFailures: 0,
    digestMismatches: 0,
    loads: { disk: 0, start: 0, replaced: 0, pruned: 0, lineage: 0, digest: 0, failed: 0 },
  };
}

/** What a follower is doing now. One step is under way in `loading`, `applying`, `fetching` and `announcing`. */
export type FollowerPhase =
  /** Before the first message, or until Redis was tried once. `inForce` is what was on disk. */
  | { readonly name: 'starting'; readonly inForce: Head | null }
  /** Loads a whole snapshot. */
  | { readonly name: 'loading'; readonly inForce: Head | null; readonly cause: LoadCause }
  /** Applies the change that follows the revision in force. */
  | { readonly name: 'applying'; readonly inForce: Head; readonly change: Change }
  /** Fetches the changes after the revision in force. `headBefore` is the head that was known when it began. */
  | { readonly name: 'fetching'; readonly inForce: Head; readonly headBefore: Head | null }
  /** Writes its lease to Redis for the first time. */
  | { readonly name: 'announcing'; readonly inForce: Head }
  /** A step has succeeded; other work of the process may run now. The next step is a load if `load` is set. */
  | { readonly name: 'yielding'; readonly inForce: Head; readonly load: LoadCause | null }
  /** A step has failed; the next one begins after a pause. */
  | { readonly name: 'retrying'; readonly inForce: Head | null; readonly load: LoadCause | null }
  /** A newer head is known. The changes up to it are probably on their way. */
  | { readonly name: 'awaiting'; readonly inForce: Head }
  /** At the head. */
  | { readonly name: 'idle'; readonly inForce: Head }
  /** `stop()` was called while a step was under way. */
  | { readonly name: 'stopping'; readonly inForce: Head | null }
  | { readonly name: 'stopped'; readonly inForce: Head | null };

/** What a follower knows, whatever it is doing. */
export interface FollowerKnowledge {
  /** The newest head of the log in force. Null: none was received yet. */
  readonly head: Head | null;
  /** The changes must be fetched, whatever `head` says: a message may have been lost, or spoke of another log. */
  readonly mustFetch: boolean;
  /** The changes up to the newer head have been awaited for long enough. */
  readonly hasAwaited: boolean;
  /** The lease is written: writes wait for this follower. */
  readonly isAnnounced: boolean;
  /** What is in force was the newest at least once. */
  readonly isCaughtUp: boolean;
  /** How often in a row the feed API refused to give the changes. */
  readonly refusals: number;
  /** How many steps in a row have failed. */
  readonly failures: number;
}

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
  /** The pause of `yielding` or `retrying` is over. */
  | { readonly type: 'resumed' }
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
  | { readonly type: 'pause'; readonly failures: number }
  /** Report `awaited` after a moment, which is another one for each follower. It replaces an earlier `await`. */
  | { readonly type: 'await' }
  /** Tell the publishers which revision is in force, once announced. */
  | { readonly type: 'acknowledge'; readonly inForce: Head }
  /** What is in force is known to be the newest at this moment. */
  | { readonly type: 'noteAtHead' }
  | { readonly type: 'reportCaughtUp' }
  /** Write a new snapshot to disk if the disk has lost changes. */
  | { readonly type: 'recordIfDue' }
  | {
      readonly type: 'log';
      readonly level: 'warn' | 'error';
      readonly fields: object;
      readonly message: string;
    }
  | { readonly type: 'reportStopped' };
