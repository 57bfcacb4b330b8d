import type { Change } from '@weir/config-model';
import type { FileThread } from '../files/file-thread.js';
import type { SnapshotPart } from '../protocol/protocol.js';
import type { FeedLogger } from '../runtime/feed-logger.js';

/** What a follower finds on its disk when it starts. */
export interface DiskState {
  /** Throws RowError while it is read when the file is damaged. */
  readonly parts: AsyncIterable<SnapshotPart>;
  /** In order. The first ones may already be part of the snapshot. */
  readonly changes: readonly Change[];
}

/** A snapshot that is written to the disk while it is read. Ends with `commit` or `discard`. */
export interface Recording {
  readonly parts: AsyncIterable<SnapshotPart>;
  /**
   * Replaces the old snapshot, and the journal by the changes that were appended since the recording began.
   * @returns false: the disk failed, or another recording has begun since. The old snapshot stays.
   */
  commit(): Promise<boolean>;
  discard(): Promise<void>;
}

export interface SnapshotDiskOptions {
  readonly folder: string;
  readonly log: FeedLogger;
  /** Reads and writes everything but the journal. */
  readonly files?: FileThread;
  /** Writes the journal. */
  readonly journalThread?: FileThread;
  readonly longJournalBytes?: number;
  /** From 0 to 1, drawn anew for each journal. Followers of one log should not all compact at the same revision. */
  readonly random?: () => number;
}
