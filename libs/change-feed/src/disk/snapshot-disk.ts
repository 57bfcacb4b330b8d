import type { Change } from '@weir/config-model';
import { join } from 'node:path';
import { FileThread } from '../files/file-thread.js';
import { type Journal, journalLine, readJournal } from './journal-file.js';
import type { DiskState, Recording, SnapshotDiskOptions } from './disk-state.js';
import { JournalWriter } from './journal-writer.js';
import { readSnapshotFile, SnapshotFileWriter } from './snapshot-file.js';
import { MergeError, mergeOnThread } from './snapshot-merge.js';
import { SnapshotRecording } from './snapshot-recording.js';
import type { SnapshotPart } from '../protocol/protocol.js';
import type { FeedLogger } from '../runtime/feed-logger.js';

/** Size of the journal from which on a new snapshot is due. */
const LONG_JOURNAL_BYTES = 32 * 1024 * 1024;

/** Longest time that a read, a write or a flush may take. */
const PATIENCE_MS = 5_000;

/** A change as it is in the journal. */
interface JournalEntry {
  readonly revision: number;
  readonly line: string;
}

/**
 * A follower's configuration on disk, from which it can start without the control plane: the file `snapshot`, and
 * the file `journal` with the changes since. A new snapshot replaces the old one by rename once it is complete and
 * flushed. A change is in the journal before it is acknowledged, so it survives when the process is killed.
 *
 * A disk that fails does not stop the process: the error is logged, and a new recording is due. Neither does one that
 * hangs: threads of their own wait for it. What waits for those waits for a limited time.
 */
export class SnapshotDisk {
  readonly folder: string;
  /** Reads and writes everything in the folder but the journal. */
  readonly files: FileThread;
  /** Set by who keeps the images of catalogues there. */
  lacksImage = false;
  /** Errors, and disks that hung for too long. */
  failures = 0;
  private readonly log: FeedLogger;
  private readonly longJournalBytes: number;
  private readonly random: () => number;
  /** Size of the journal from which on a new snapshot is due. */
  private dueBytes: number;
  private readonly closing = new AbortController();
  private readonly journal: JournalWriter;
  /** What was appended to the journal since the recording began. */
  private sinceRecording: JournalEntry[] | null = null;
  private recordings = 0;
  /** The journal that `read` found, until `resume`. */
  private found: Journal | null = null;

  constructor(options: SnapshotDiskOptions) {
    this.folder = options.folder;
    this.log = options.log;
    this.files = options.files ?? new FileThread({ patienceMs: PATIENCE_MS });
    this.longJournalBytes = options.longJournalBytes ?? LONG_JOURNAL_BYTES;
    this.random = options.random ?? Math.random;
    this.dueBytes = this.drawDueBytes();
    this.journal = new JournalWriter((error) => {
      this.fail(error);
    }, options.journalThread);
  }

  /** Whether all that was appended is, or is about to be, on the disk, with the image that it names. */
  get isCurrent(): boolean {
    return this.journal.isAvailable && !this.journal.isBehind && !this.lacksImage;
  }

  /** What the disk holds to start from; null: nothing. */
  async read(): Promise<DiskState | null> {
    await this.files.call('makeFolder', this.folder);
    await this.removeUnfinished();
    try {
      this.found = await readJournal(this.files, this.path('journal'));
      const { changes, isWhole } = this.found;
      if (!isWhole)
        this.log.warn(
          { folder: this.folder },
          'the journal ends with a damaged line, which is ignored',
        );
      return { parts: readSnapshotFile(this.files, this.path('snapshot')), changes };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /**
   * Notes which run of a follower uses the folder: after `read`.
   * @returns the id of the run before, which has ended, as a folder belongs to one process; null: it is not known.
   */
  async takeOver(id: string): Promise<string | null> {
    if (this.files.isHanging) return null;
    const before = await this.files.call('exchange', this.path('run'), id).catch(() => null);
    return before === '' ? null : before;
  }

  /** Continues the journal that was read. Changes after this revision are cut off: they could not be put in force. */
  resume(revision: number): void {
    const { changes, ends } = this.found ?? { changes: [], ends: [] };
    this.found = null;
    const kept = changes.findLastIndex((change) => change.revision <= revision);
    this.journal.open(this.path('journal'), ends[kept] ?? 0);
  }

  /** Renames files that cannot be used to `*.damaged`, so that they can be examined. */
  async setAside(reason: string): Promise<void> {
    this.log.error(
      { reason, folder: this.folder },
      'the snapshot on disk cannot be used and is set aside',
    );
    for (const name of ['snapshot', 'journal']) {
      const damaged = this.path(`${name}.damaged`);
      await this.files.call('rename', this.path(name), damaged).catch((error: unknown) => {
        if (!isMissing(error)) this.fail(error);
      });
    }
  }

  /** Whether a new snapshot should be recorded: the journal is long, or missing because the disk failed. */
  get isRecordingDue(): boolean {
    if (this.sinceRecording !== null) return false;
    return !this.journal.isAvailable || this.journal.bytes > this.dueBytes;
  }

  /** Whether the snapshot and the journal on the disk are complete, so that `compact` can make one of them. */
  get canCompact(): boolean {
    return this.canRecord && this.journal.isAvailable;
  }

  /** Whether the disk answers. */
  get canRecord(): boolean {
    return !this.journal.isBehind && !this.files.isHanging;
  }

  /** Records a snapshot. It fails when another recording begins before it is committed. */
  record(parts: AsyncIterable<SnapshotPart>): Recording {
    const changes: JournalEntry[] = [];
    this.sinceRecording = changes;
    const path = this.path(`snapshot.new-${++this.recordings}`);
    const isLatest = (): boolean => this.sinceRecording === changes;
    return new SnapshotRecording({
      parts,
      create: () => this.createSnapshot(path),
      isLatest,
      replace: (revision) => this.replace(path, changes, revision),
      onAbandon: () => {
        if (isLatest()) this.sinceRecording = null;
      },
      onError: (error) => {
        this.fail(error);
      },
    });
  }

  /**
   * Replaces the snapshot and its journal by a snapshot with both, made from the files on a thread of its own. What is
   * in force is not read, and nothing is fetched.
   * @returns as `Recording.commit`.
   */
  async compact(): Promise<boolean> {
    const changes: JournalEntry[] = [];
    this.sinceRecording = changes;
    const journalBytes = this.journal.bytes;
    const merged = this.path(`snapshot.new-${++this.recordings}`);
    let isDone = false;
    try {
      await this.journal.stored();
      if (!this.canCompact) throw new Error('the disk does not answer');
      const from = { snapshot: this.path('snapshot'), journal: this.path('journal') };
      const revision = await mergeOnThread({ ...from, journalBytes, merged }, this.closing.signal);
      isDone = this.sinceRecording === changes;
      if (isDone) await this.replace(merged, changes, revision);
    } catch (error) {
      isDone = false;
      // Another recording has begun since, or the process stops: nothing of this matters any longer.
      if (this.sinceRecording === changes && !this.closing.signal.aborted) this.failMerge(error);
    }
    if (this.sinceRecording === changes) this.sinceRecording = null;
    if (!isDone) await this.files.call('remove', merged).catch(() => undefined);
    return isDone;
  }

  /** Gives up a compaction that is under way: the process stops. */
  abandonCompaction(): void {
    this.closing.abort();
  }

  /** Appends a change that was applied. It survives when the process is killed after this, then `stored`. */
  async append(change: Change): Promise<void> {
    if (this.sinceRecording === null && !this.journal.isAvailable) return;
    const line = await journalLine(change);
    this.sinceRecording?.push({ revision: change.revision, line });
    if (this.journal.isAvailable) this.journal.append(line);
  }

  /** Resolves when all that was appended is in the journal, or cannot be, or the disk is late. */
  stored(): Promise<void> {
    return this.journal.stored();
  }

  /** What is on the disk is not continued. A recording replaces it. */
  discontinue(): void {
    this.journal.close();
  }

  /** Ends the threads. Does not wait for long when the disk hangs. */
  async close(): Promise<void> {
    this.abandonCompaction();
    await Promise.all([this.journal.end(), this.files.close()]);
  }

  private async createSnapshot(path: string): Promise<SnapshotFileWriter> {
    if (this.journal.isBehind) throw new Error('the disk does not answer');
    // The folder may have been removed while this process ran.
    await this.files.call('makeFolder', this.folder);
    return SnapshotFileWriter.create(this.files, path);
  }

  /** Removes what a process left behind that was killed while it recorded. */
  private async removeUnfinished(): Promise<void> {
    const names = await this.files.call('list', this.folder);
    const unfinished = names.filter(
      (name) => name.startsWith('snapshot.new') || name === 'journal.new',
    );
    const removing = unfinished.map((name) => this.files.call('remove', this.path(name)));
    // A disk that cannot be written to may still be readable.
    await Promise.all(removing).catch((error: unknown) => {
      this.fail(error);
    });
  }

  private async replace(
    newSnapshot: string,
    changes: readonly JournalEntry[],
    revision: number,
  ): Promise<true> {
    const later = changes.filter((change) => change.revision > revision);
    const lines = later.map(({ line }) => line).join('');
    this.sinceRecording = null;
    await this.journal.replace(this.folder, newSnapshot, lines);
    this.dueBytes = this.drawDueBytes();
    return true;
  }

  private failMerge(error: unknown): void {
    this.fail(error);
    // A start would not get further either.
    if (error instanceof MergeError && error.isUnusable) this.discontinue();
  }

  private drawDueBytes(): number {
    return this.longJournalBytes * (0.5 + this.random() / 2);
  }

  private fail(error: unknown): void {
    this.failures++;
    this.log.error(
      { reason: String(error), folder: this.folder },
      'the configuration cannot be kept on disk',
    );
  }

  private path(name: string): string {
    return join(this.folder, name);
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
