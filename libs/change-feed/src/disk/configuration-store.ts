import {
  type Change,
  encodeChange,
  ENTITY_KINDS,
  FlatRows,
  KEY_LENGTHS,
  type EntityKind,
  type Head,
  RowError,
  RowsParser,
} from '@weir/config-model';
import { join } from 'node:path';
import { FileThread, programFile } from '../files/file-thread.js';
import { FEED_VERSION, type SnapshotPart } from '../protocol/protocol.js';
import { PartsWithHead } from '../protocol/snapshot-stream.js';
import { endsWithin, type FeedLogger } from '../runtime/runtime.js';
import { DAMAGED, type DatabaseCalls, type DatabaseForm } from './database-program.js';

const FORM: DatabaseForm = {
  version: FEED_VERSION,
  kinds: ENTITY_KINDS.map((name) => ({ name, keyLength: KEY_LENGTHS[name] })),
};
/** Longest time that a call may take which is not a change. */
const PATIENCE_MS = 5_000;
/** Images are written seldom, and the thread that writes them takes 8 MiB. */
const FILES_IDLE_MS = 10_000;
/** Longest time that an acknowledgement waits for the disk: half the default of PROPAGATION_TIMEOUT_MS. */
const LATE_MS = 500;
/** Most characters of changes that wait for a disk that is late. */
const MAX_WAITING_LENGTH = 8 * 1024 * 1024;

export interface ConfigurationStoreOptions {
  readonly folder: string;
  readonly log: FeedLogger;
  /** Reads and writes everything but the database. */
  readonly files?: FileThread;
  readonly database?: FileThread<DatabaseCalls>;
}

/** A snapshot that is written to the disk while it is read. Ends with `commit` or `discard`. */
export interface Recording {
  /** The reader gets them whether or not the disk works. */
  readonly parts: AsyncIterable<SnapshotPart>;
  /** Replaces what is on the disk. @returns false: the disk failed, or another recording has begun since. */
  commit(): Promise<boolean>;
  discard(): Promise<void>;
}

/**
 * A follower's configuration on disk, from which it can start without the control plane: an SQLite database. A change
 * is in it before it is acknowledged, so it survives when the process is killed.
 *
 * A disk that fails does not stop the process: the error is logged, and a new recording is due. Neither does one that
 * hangs: a thread of its own waits for it, and what waits for the thread waits for a limited time. A disk that is slow
 * now and then is waited for, as long as the changes that wait for it are few.
 */
export class ConfigurationStore {
  readonly folder: string;
  /** Reads and writes everything in the folder but the database. */
  readonly files: FileThread;
  /** Set by who keeps the images of catalogues there. */
  lacksImage = false;
  /** Errors, and disks that hung for too long. */
  failures = 0;
  private readonly log: FeedLogger;
  private readonly database: FileThread<DatabaseCalls>;
  private readonly path: string;
  /** Whether a change that is appended now will be in the database. */
  private isContinued = false;
  private isLate = false;
  /** Changes that came during the last transaction: the next one has them all, so that a slow disk keeps up. */
  private waiting: string[] = [];
  private waitingLength = 0;
  private transaction: Promise<void> | null = null;
  /** How many changes were appended, and how many of them have been written or given up. */
  private appended = 0;
  private ended = 0;
  /** Changes that were appended since the recording under way has begun. */
  private sinceRecording: string[] | null = null;

  constructor({ folder, log, files, database }: ConfigurationStoreOptions) {
    this.folder = folder;
    this.log = log;
    this.path = join(folder, 'configuration');
    this.files = files ?? new FileThread({ patienceMs: PATIENCE_MS, idleMs: FILES_IDLE_MS });
    const program = programFile('../disk/database-program');
    // A transaction has its own limit.
    this.database = database ?? new FileThread({ patienceMs: Infinity, program });
  }

  /** Whether all that was appended is, or is about to be, on the disk, with the image that it names. */
  get isCurrent(): boolean {
    return this.isContinued && !this.isBehind && !this.lacksImage;
  }

  /** Whether a new snapshot should be recorded: the disk has lost changes, and answers. */
  get isRecordingDue(): boolean {
    return !this.isContinued && this.sinceRecording === null && !this.isBehind;
  }

  /** What is on the disk to start from; null: nothing. @throws RowError when it is damaged, also while it is read. */
  async read(): Promise<AsyncIterable<SnapshotPart> | null> {
    await this.files.call('makeFolder', this.folder);
    const head = await this.call('open', this.path, FORM);
    return head && this.readParts(head);
  }

  /** The configuration that was read is in force: changes are appended to it. */
  resume(): void {
    this.isContinued = true;
  }

  /**
   * Notes which run of a follower uses the folder: after `read`.
   * @returns the id of the run before, which has ended, as a folder belongs to one process; null: it is not known.
   */
  async takeOver(id: string): Promise<string | null> {
    if (this.files.isHanging) return null;
    const run = join(this.folder, 'run');
    const before = await this.files.call('exchange', run, id).catch(() => null);
    return before === '' ? null : before;
  }

  /** Renames a database that cannot be used, so that it can be examined. */
  async setAside(reason: string): Promise<void> {
    this.log.error(
      { reason, folder: this.folder },
      'the configuration on disk cannot be used and is set aside',
    );
    await this.call('setAside', this.path, `${this.path}.damaged`).catch((error: unknown) => {
      this.fail(error);
    });
  }

  /** Records a snapshot. It fails when another recording begins before it is committed. */
  record(parts: AsyncIterable<SnapshotPart>): Recording {
    const changes: string[] = [];
    this.sinceRecording = changes;
    const read = new PartsWithHead(parts);
    const discard = async (): Promise<void> => {
      if (this.sinceRecording !== changes) return;
      this.sinceRecording = null;
      // The reader must get the snapshot even if the file cannot be removed.
      if (!this.isBehind) await this.call('discard').catch(() => undefined);
    };
    const attempt = async (step: () => Promise<void>): Promise<boolean> => {
      if (this.sinceRecording !== changes) return false;
      try {
        if (this.isBehind) throw new Error('the disk does not answer');
        await step();
        return true;
      } catch (error) {
        this.fail(error);
        await discard();
        return false;
      }
    };
    const write = async (part: SnapshotPart): Promise<void> => {
      if (part.type === 'head') return;
      const rows = part.rows instanceof FlatRows ? part.rows : FlatRows.of(part.rows);
      await this.call('putRows', part.kind, rows.values, rows.ends);
    };
    const recorded = async function* (this: ConfigurationStore): AsyncGenerator<SnapshotPart> {
      await attempt(() => this.create());
      for await (const part of read) {
        await attempt(() => write(part));
        yield part;
      }
    };
    const commit = (): Promise<boolean> =>
      attempt(async () => {
        if (read.head === null) throw new Error('a snapshot without a head');
        await this.replace(read.head, changes);
      });
    return { parts: recorded.call(this), commit, discard };
  }

  /** Appends a change that was applied. It survives when the process is killed after this, then `stored`. */
  append(change: Change): void {
    if (this.sinceRecording === null && !this.isContinued) return;
    const json = JSON.stringify(encodeChange(change));
    this.sinceRecording?.push(json);
    if (!this.isContinued) return;
    this.waiting.push(json);
    this.appended++;
    this.waitingLength += json.length;
    if (this.isLate && this.waitingLength > MAX_WAITING_LENGTH) this.database.giveUp();
    if (this.transaction === null) void this.write();
  }

  /** Resolves when all that was appended is on the disk, or cannot be, or the disk is late. */
  async stored(): Promise<void> {
    if (this.transaction === null || this.isBehind) return;
    const isInTime = await endsWithin(this.untilEnded(this.appended), LATE_MS);
    if (!isInTime) this.isLate = this.transaction !== null;
  }

  /** What is on the disk is not continued. A recording replaces it. */
  discontinue(): void {
    this.isContinued = false;
  }

  /** Ends the threads, with all that was appended on the disk. Does not wait for long when the disk hangs. */
  async close(): Promise<void> {
    const isWritten = await endsWithin(this.untilEnded(this.appended), PATIENCE_MS);
    this.isContinued = false;
    if (isWritten && !this.database.isHanging) await this.call('close').catch(() => undefined);
    await Promise.all([this.database.close(), this.files.close()]);
  }

  /** Whether the disk keeps changes waiting for too long. */
  private get isBehind(): boolean {
    return this.isLate || this.database.isHanging;
  }

  private async *readParts(head: Head): AsyncGenerator<SnapshotPart> {
    yield { type: 'head', ...head };
    const parser = new RowsParser();
    const read = (): ReturnType<typeof this.call<'readRows'>> => {
      const rows = this.call('readRows');
      // The caller may end before it asks for these.
      rows.catch(() => undefined);
      return rows;
    };
    for (let stored = await read(); stored !== null;) {
      // The next ones are read while the caller uses those before.
      const next = read();
      const rows = parser.parse(stored.json, 0, stored.json.length);
      if (rows === null) throw new RowError('a database with unreadable rows');
      yield { type: 'rows', kind: stored.kind as EntityKind, rows };
      stored = await next;
    }
  }

  private async create(): Promise<void> {
    // The folder may have been removed while this process ran.
    await this.files.call('makeFolder', this.folder);
    await this.call('create', `${this.path}.new`, FORM);
  }

  private async replace(head: Head, changes: string[]): Promise<void> {
    const replaced = this.call('replace', this.path, FORM, head, changes);
    // What is appended from now on follows in the new database.
    this.isContinued = true;
    await replaced.catch((error: unknown) => {
      this.isContinued = false;
      throw error;
    });
    // Another recording may have begun meanwhile.
    if (this.sinceRecording === changes) this.sinceRecording = null;
  }

  private async write(): Promise<void> {
    while (this.waiting.length > 0) {
      const changes = this.waiting.splice(0);
      const length = changes.reduce((sum, { length }) => sum + length, 0);
      this.transaction = this.database
        .call('apply', changes)
        .catch((error: unknown) => {
          if (this.isContinued) this.fail(error);
          this.isContinued = false;
        })
        .then(() => {
          this.waitingLength -= length;
          this.ended += changes.length;
        });
      await this.transaction;
    }
    this.transaction = null;
    this.isLate = false;
  }

  private async untilEnded(appended: number): Promise<void> {
    while (this.transaction !== null && this.ended < appended) await this.transaction;
  }

  /** A call that is not a change. @throws RowError when the database is damaged; the error of the disk */
  private async call<N extends keyof DatabaseCalls>(
    name: N,
    ...args: Parameters<DatabaseCalls[N]>
  ): Promise<ReturnType<DatabaseCalls[N]>> {
    const result = this.database.call(name, ...args);
    if (!(await endsWithin(result, PATIENCE_MS))) this.database.giveUp();
    try {
      return await result;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw code === DAMAGED ? new RowError(message, { cause: error }) : error;
    }
  }

  private fail(error: unknown): void {
    this.failures++;
    this.log.error(
      { reason: String(error), folder: this.folder },
      'the configuration cannot be kept on disk',
    );
  }
}
