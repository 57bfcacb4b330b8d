import type { Change } from '@weir/config-model';
import { appendFileSync, closeSync, fstatSync, ftruncateSync, openSync, renameSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Journal, journalLine, readJournal } from './journal-file.js';
import { readSnapshotFile, SnapshotFileWriter } from './snapshot-file.js';
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
   * @returns false: the disk failed or another recording has begun since. The old snapshot stays.
   */
  commit(): Promise<boolean>;
  discard(): Promise<void>;
}

/** Size of the journal from which on a new snapshot is due. */
const LONG_JOURNAL_BYTES = 32 * 1024 * 1024;

/**
 * A follower's configuration on disk, from which it can start without the control plane: the file `snapshot`, and
 * the file `journal` with the changes since. A new snapshot replaces the old one by rename once it is complete and
 * flushed. A change is in the journal before it is acknowledged, so it survives when the process is killed.
 *
 * A failing disk does not stop the process: the error is logged, and a new recording is due.
 */
export class SnapshotDisk {
  private journal: number | null = null;
  private journalBytes = 0;
  /** The changes appended since the recording began. */
  private sinceRecording: Change[] | null = null;
  private recordings = 0;
  /** The journal that `read` found, until `resume`. */
  private found: Journal | null = null;

  constructor(
    private readonly folder: string,
    private readonly log: FeedLogger,
    private readonly longJournalBytes = LONG_JOURNAL_BYTES,
  ) {}

  /** What the disk holds to start from; null: nothing. */
  async read(): Promise<DiskState | null> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await this.removeUnfinished();
    try {
      const { changes, isWhole } = (this.found = await readJournal(this.path('journal')));
      if (!isWhole)
        this.log.warn(
          { folder: this.folder },
          'the journal ends with a damaged line, which is ignored',
        );
      return { parts: readSnapshotFile(this.path('snapshot')), changes };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** Continues the journal that was read. Changes after this revision are cut off: they could not be put in force. */
  resume(revision: number): void {
    const { changes, ends } = this.found ?? { changes: [], ends: [] };
    this.found = null;
    const kept = changes.findLastIndex((change) => change.revision <= revision);
    try {
      this.journal = openSync(this.path('journal'), 'a', 0o600);
      this.journalBytes = ends[kept] ?? 0;
      ftruncateSync(this.journal, this.journalBytes);
    } catch (error) {
      this.close();
      this.fail(error);
    }
  }

  /** Renames files that cannot be used to `*.damaged`, so that they can be examined. */
  async setAside(reason: string): Promise<void> {
    this.log.error(
      { reason, folder: this.folder },
      'the snapshot on disk cannot be used and is set aside',
    );
    for (const name of ['snapshot', 'journal']) {
      await rename(this.path(name), this.path(`${name}.damaged`)).catch((error: unknown) => {
        if (!isMissing(error)) this.fail(error);
      });
    }
  }

  /** Whether a new snapshot should be recorded: the journal is long, or missing because the disk failed. */
  get isRecordingDue(): boolean {
    if (this.sinceRecording !== null) return false;
    return this.journal === null || this.journalBytes > this.longJournalBytes;
  }

  /**
   * Writes the parts to the disk as they are read. The reader gets them whether or not the disk works. A recording
   * fails when another one begins before it is committed.
   */
  record(parts: AsyncIterable<SnapshotPart>): Recording {
    const changes: Change[] = [];
    this.sinceRecording = changes;
    const path = this.path(`snapshot.new-${++this.recordings}`);
    let writer: SnapshotFileWriter | null = null;
    const abandon = async (): Promise<void> => {
      if (this.sinceRecording === changes) this.sinceRecording = null;
      const abandoned = writer;
      writer = null;
      // The reader must get the snapshot even if the file cannot be removed.
      await abandoned?.abandon().catch((error: unknown) => {
        this.fail(error);
      });
    };
    const attempt = async <T>(step: () => Promise<T>): Promise<T | false> => {
      try {
        return await step();
      } catch (error) {
        this.fail(error);
        await abandon();
        return false;
      }
    };
    const create = async (): Promise<void> => {
      // The folder may have been removed while this process ran.
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      writer = await SnapshotFileWriter.create(path);
    };
    async function* tee(): AsyncGenerator<SnapshotPart> {
      await attempt(create);
      for await (const part of parts) {
        if (writer !== null) await attempt(() => (writer as SnapshotFileWriter).write(part));
        yield part;
      }
    }
    const commit = async (): Promise<boolean> => {
      await writer?.finish();
      if (writer === null || this.sinceRecording !== changes) {
        await abandon();
        return false;
      }
      this.swap(path, writer.revision, changes);
      this.sinceRecording = null;
      return true;
    };
    return { parts: tee(), commit: () => attempt(commit), discard: abandon };
  }

  /** Appends a change that was applied. After that the change survives when the process is killed. */
  append(change: Change): void {
    this.sinceRecording?.push(change);
    if (this.journal === null) return;
    const line = journalLine(change);
    try {
      // Not `writeSync`: on a disk that is nearly full it may write a part of the line without an error.
      appendFileSync(this.journal, line);
      if (fstatSync(this.journal).nlink === 0) throw new Error('the journal was removed');
      this.journalBytes += Buffer.byteLength(line);
    } catch (error) {
      this.close();
      this.fail(error);
    }
  }

  close(): void {
    if (this.journal !== null) closeSync(this.journal);
    this.journal = null;
    this.journalBytes = 0;
  }

  /**
   * One synchronous step, so that no change is appended in between. A process that dies between the two renames leaves
   * the new snapshot with the old journal. The first changes of that journal are part of the snapshot; `read` copes.
   */
  private swap(path: string, revision: number, changes: readonly Change[]): void {
    const later = changes.filter((change) => change.revision > revision);
    const lines = later.map(journalLine).join('');
    const journal = openSync(this.path('journal.new'), 'w', 0o600);
    try {
      appendFileSync(journal, lines);
      renameSync(path, this.path('snapshot'));
      renameSync(this.path('journal.new'), this.path('journal'));
    } catch (error) {
      closeSync(journal);
      throw error;
    }
    this.close();
    this.journal = journal;
    this.journalBytes = Buffer.byteLength(lines);
  }

  /** Removes what a process left behind that was killed while it recorded. */
  private async removeUnfinished(): Promise<void> {
    const names = await readdir(this.folder);
    const unfinished = names.filter(
      (name) => name.startsWith('snapshot.new') || name === 'journal.new',
    );
    const removing = unfinished.map((name) => rm(this.path(name), { force: true }));
    // A disk that cannot be written to may still be readable.
    await Promise.all(removing).catch((error: unknown) => {
      this.fail(error);
    });
  }

  private fail(error: unknown): void {
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
