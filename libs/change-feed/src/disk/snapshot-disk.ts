import type { Change } from '@weir/config-model';
import { appendFileSync, closeSync, fstatSync, ftruncateSync, openSync, renameSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Journal,
  journalLine,
  readJournal,
  readSnapshotFile,
  SnapshotFileWriter,
} from './disk-files.js';
import type { SnapshotPart } from '../protocol/protocol.js';
import type { FeedLogger } from '../runtime/feed-logger.js';

/** What a follower finds on its disk when it starts. */
export interface DiskState {
  /** Throws RowError while it is read when the file is damaged. */
  readonly parts: AsyncIterable<SnapshotPart>;
  /** In order; those that the snapshot holds already are among them. */
  readonly changes: readonly Change[];
}

/** A snapshot that is written to the disk while it is read. One of the two ends it. */
export interface Recording {
  readonly parts: AsyncIterable<SnapshotPart>;
  /**
   * Puts it in the place of the old one, with the changes that were appended since it began.
   * @returns false: the disk failed, or another recording overtook this one, and the old one stays.
   */
  commit(): Promise<boolean>;
  discard(): Promise<void>;
}

/** Size of the journal at which a new snapshot is worth its while. */
const LONG_JOURNAL_BYTES = 32 * 1024 * 1024;

/**
 * A follower's configuration on disk, to start from when nothing else can be reached: `snapshot`, and `journal` with the changes
 * since. A new snapshot takes the place of the old one by rename, when it is whole and on the disk; a change is in the
 * journal before it is acknowledged, so that a process that is killed finds it again.
 *
 * A disk that fails is no reason to stop answering: it is said in the log, and a new recording is due.
 */
export class SnapshotDisk {
  private journal: number | null = null;
  private journalBytes = 0;
  /** The changes appended since the recording began. */
  private sinceRecording: Change[] | null = null;
  private recordings = 0;
  /** As `read` found it, until `resume`. */
  private found: Journal | null = null;

  constructor(
    private readonly folder: string,
    private readonly log: FeedLogger,
    private readonly longJournalBytes = LONG_JOURNAL_BYTES,
  ) {}

  /** What is there to start from; null when there is nothing. */
  async read(): Promise<DiskState | null> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await this.removeUnfinished();
    try {
      const { changes, isWhole } = (this.found = await readJournal(this.path('journal')));
      if (!isWhole)
        this.log.warn(
          { folder: this.folder },
          'the journal ends in a damaged line, which is left out',
        );
      return { parts: readSnapshotFile(this.path('snapshot')), changes };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** Goes on with the journal that was read, as far as it was put in force: what stands behind this revision is cut off. */
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

  /** Moves files that cannot be used out of the way, for whoever wants to know what happened to them. */
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

  /** Whether a new snapshot should be recorded: the journal is long, or there is none because the disk failed. */
  get isRecordingDue(): boolean {
    if (this.sinceRecording !== null) return false;
    return this.journal === null || this.journalBytes > this.longJournalBytes;
  }

  /**
   * Writes the parts to the disk as they are read. They are handed on whether or not the disk works. A recording that another one
   * overtakes comes to nothing.
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
      // What cannot be removed either must keep nobody from what was read.
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
      // It may have been removed while this process ran.
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

  /** Appends a change that was applied; when this returns, killing the process cannot lose it any more. */
  append(change: Change): void {
    this.sinceRecording?.push(change);
    if (this.journal === null) return;
    const line = journalLine(change);
    try {
      // Not `writeSync`, which a disk that is nearly full has write a part of the line, and says nothing.
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
   * One synchronous step, so that no change is appended in between. A process that dies between the two renames leaves the new snapshot with
   * the old journal, whose earlier changes the snapshot holds already.
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

  /** What a process left that was killed while it recorded. */
  private async removeUnfinished(): Promise<void> {
    const names = await readdir(this.folder);
    const unfinished = names.filter(
      (name) => name.startsWith('snapshot.new') || name === 'journal.new',
    );
    const removing = unfinished.map((name) => rm(this.path(name), { force: true }));
    // A disk that takes nothing may give what it has.
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
