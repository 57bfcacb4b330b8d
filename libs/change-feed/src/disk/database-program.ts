import type { EncodedChange, Head } from '@weir/config-model';
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort } from 'node:worker_threads';
import { crc32 } from 'node:zlib';

// The program of the thread that has the database of a follower. It runs as it is, also from the sources, so it imports
// nothing but Node, and has no TypeScript that needs code of its own.

export interface DatabaseForm {
  /** A database of another version is not read. */
  readonly version: number;
  /** In the order in which rows are read, with the number of values at the beginning of a row that are its key. */
  readonly kinds: readonly { readonly name: string; readonly keyLength: number }[];
}

/** Rows of one kind: the UTF-8 of their JSON, `[[1,2],[3,null]]`. */
export interface StoredRows {
  readonly kind: string;
  readonly json: Uint8Array<ArrayBuffer>;
}

/** Values of rows, where −1 stands for null, too. */
type Values = ArrayLike<number | null>;

interface Table {
  readonly keyLength: number;
  readonly put: StatementSync;
  readonly remove: StatementSync;
}

/** The code of an error that says: the file is no such database, or is damaged. */
export const DAMAGED = 'DAMAGED';
/** SQLITE_ERROR (a table is missing), SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGE_CODES = [1, 11, 26];
/** SQLITE_BUSY: another process has the database open. */
const IN_USE_CODE = 5;
const ROWS_AT_ONCE = 1_000;
/** A write-ahead log that a large transaction made longer is cut to this. */
const MAX_IDLE_LOG_BYTES = 8 * 1024 * 1024;
/** Where a copy is put. A container without a writable folder for temporary files still has shared memory. */
const FOLDERS_OF_COPIES = [tmpdir(), '/dev/shm'];

/**
 * A configuration in an SQLite database: a table for each kind with the rows by their key, and one with the head. The
 * folder belongs to one process. So the file is locked for as long as it is open, and the index of the write-ahead log
 * is in memory, not in a mapped file, which a failing disk could take away. A transaction survives the end of the
 * process (`synchronous = NORMAL`); after a loss of power the last ones may be missing.
 */
class Database {
  head: Head | null = null;
  private readonly path: string;
  private readonly form: DatabaseForm;
  private readonly database: DatabaseSync;
  private readonly tables = new Map<string, Table>();

  constructor(path: string, form: DatabaseForm) {
    this.path = path;
    this.form = form;
    this.database = openFile(path);
    try {
      this.prepare();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  readHead(): Head {
    const { json, checksum } = this.get('SELECT json, checksum FROM head');
    if (typeof json !== 'string' || crc32(json) !== checksum) throw damaged('no head');
    this.head = JSON.parse(json) as Head;
    return this.head;
  }

  *rows(): Generator<StoredRows, null> {
    for (const { name: kind } of this.form.kinds) {
      const next = this.database.prepare(
        `SELECT max(key) AS last, CAST('[' || group_concat(key || rest) || ']' AS BLOB) AS json
        FROM (SELECT key, rest FROM "${kind}" WHERE key > ? ORDER BY key LIMIT ${ROWS_AT_ONCE})`,
      );
      for (let after = ''; ;) {
        const { last, json } = next.get(after) ?? {};
        if (typeof last !== 'string' || !(json instanceof Uint8Array)) break;
        yield { kind, json };
        after = last;
      }
    }
    return null;
  }

  /** @param values and ends, of `FlatRows`; −1 stands for null. */
  putRows(kind: string, values: Float64Array, ends: Uint32Array): void {
    this.transaction(() => {
      let start = 0;
      for (const end of ends) {
        this.put(kind, values, start, end);
        start = end;
      }
    });
  }

  /** Applies the changes that follow the head. Those up to the head are part of the rows. */
  apply(changes: readonly string[]): void {
    let head = this.head ?? this.readHead();
    this.transaction(() => {
      for (const json of changes) {
        const { revision, digest, operations } = JSON.parse(json) as EncodedChange;
        if (revision <= head.revision) continue;
        if (revision !== head.revision + 1) throw new Error(`no revision ${head.revision + 1}`);
        for (const [type, kind = '', row = []] of operations) {
          if (type === 'put') this.put(kind, row, 0, row.length);
          else this.remove(kind, row);
        }
        head = { ...head, revision, digest };
      }
      this.setHead(head);
    });
    // What is written to a file that was removed is lost.
    statSync(this.path);
  }

  setHead(head: Head): void {
    const json = JSON.stringify(head);
    this.database.exec('DELETE FROM head');
    this.database.prepare('INSERT INTO head VALUES (?, ?)').run(json, crc32(json));
    this.head = head;
  }

  close(): void {
    this.database.close();
  }

  /** Closes a database that is complete. @throws when the disk does not take all of it, which `close` ignores */
  closeFlushed(): void {
    try {
      this.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      this.close();
    }
    if (existsSync(`${this.path}-wal`)) throw new Error('the write-ahead log is not empty');
  }

  private prepare(): void {
    const { version } = this.get('SELECT user_version AS version FROM pragma_user_version');
    if (version === 0) this.create();
    else if (version !== this.form.version) throw damaged('a database of another version');
    for (const { name, keyLength } of this.form.kinds) {
      this.tables.set(name, {
        keyLength,
        put: this.database.prepare(`INSERT OR REPLACE INTO "${name}" VALUES (?, ?)`),
        remove: this.database.prepare(`DELETE FROM "${name}" WHERE key = ?`),
      });
    }
  }

  private create(): void {
    const { kinds, version } = this.form;
    this.transaction(() => {
      this.database.exec('CREATE TABLE head (json TEXT NOT NULL, checksum INTEGER NOT NULL)');
      for (const { name } of kinds) {
        this.database.exec(
          `CREATE TABLE "${name}" (key TEXT PRIMARY KEY, rest TEXT NOT NULL) WITHOUT ROWID`,
        );
      }
      this.database.exec(`PRAGMA user_version = ${version}`);
    });
  }

  /** A row is the JSON up to the end of its key, `[1,2`, and the rest of it, `,null,7]`. */
  private put(kind: string, values: Values, start: number, end: number): void {
    const table = this.tables.get(kind);
    if (table === undefined) return;
    const keyEnd = start + table.keyLength;
    const rest = `${listOf(values, start, keyEnd, end)}]`;
    table.put.run(keyOf(values, start, keyEnd), rest);
  }

  private remove(kind: string, row: Values): void {
    const table = this.tables.get(kind);
    table?.remove.run(keyOf(row, 0, table.keyLength));
  }

  private get(sql: string): Record<string, unknown> {
    return this.database.prepare(sql).get() ?? {};
  }

  /** After an error the database has to be closed, which undoes the transaction. */
  private transaction(work: () => void): void {
    this.database.exec('BEGIN');
    work();
    this.database.exec('COMMIT');
  }
}

/** The key of a row: its JSON up to the last of these values. */
function keyOf(values: Values, start: number, end: number): string {
  return `[${listOf(values, start, start, end)}`;
}

/** The values between two indices in JSON, with commas before all but the first of the row. */
function listOf(values: Values, rowStart: number, from: number, to: number): string {
  let text = '';
  for (let at = from; at < to; at++) {
    if (at > rowStart) text += ',';
    text += values[at] === -1 ? 'null' : String(values[at]);
  }
  return text;
}

function openFile(path: string): DatabaseSync {
  // SQLite gives the file a mode that others may read.
  closeSync(openSync(path, 'a', 0o600));
  const database = new DatabaseSync(path);
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    database.exec('PRAGMA journal_mode = WAL');
    database.exec('PRAGMA synchronous = NORMAL');
    database.exec(`PRAGMA journal_size_limit = ${MAX_IDLE_LOG_BYTES}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A disk that cannot be written to may still be readable. Its write-ahead log needs a copy, which takes no change. */
function openCopy(path: string, form: DatabaseForm): Database {
  const folder = makeFolderOfCopy();
  const copyOf = (file: string): string => join(folder, basename(file));
  try {
    for (const file of filesOf(path)) if (existsSync(file)) copyFileSync(file, copyOf(file));
    return new Database(copyOf(path), form);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function makeFolderOfCopy(): string {
  const [first, second] = FOLDERS_OF_COPIES.map((folder) => join(folder, 'weir-configuration-'));
  try {
    return mkdtempSync(first);
  } catch {
    return mkdtempSync(second);
  }
}

function damaged(message: string): Error {
  return Object.assign(new Error(message), { code: DAMAGED });
}

/** The primary result code of an error of SQLite; 0 for others. */
const resultCodeOf = (error: unknown): number =>
  ((error as { errcode?: number }).errcode ?? 0) & 0xff;

const isDamage = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === DAMAGED || DAMAGE_CODES.includes(resultCodeOf(error));

const filesOf = (path: string): string[] => [path, `${path}-wal`];

let current: Database | null = null;
/** Another process has the database open, so this one writes nothing. */
let isInUse = false;
let reading: Generator<StoredRows, null> | null = null;
let unfinished: { readonly path: string; readonly database: Database } | null = null;

function discardUnfinished(): void {
  const before = unfinished;
  unfinished = null;
  before?.database.close();
  if (before !== null) remove(before.path);
}

function remove(path: string): void {
  for (const file of filesOf(path)) rmSync(file, { force: true });
}

function closeCurrent(): void {
  const before = current;
  current = null;
  before?.close();
}

/** What the thread does for its owner. Each call takes as long as the disk does. */
const databaseCalls = {
  /** Opens a database. @returns what it has; null: there is none */
  open(path: string, form: DatabaseForm): Head | null {
    closeCurrent();
    if (!existsSync(path)) return null;
    try {
      current = new Database(path, form);
      remove(`${path}.new`);
    } catch (error) {
      isInUse = resultCodeOf(error) === IN_USE_CODE;
      if (isInUse || isDamage(error)) throw error;
      current ??= openCopy(path, form);
    }
    reading = current.rows();
    return current.readHead();
  },

  /** The next rows of the database that was opened; null: these were all. */
  readRows(): StoredRows | null {
    return reading?.next().value ?? null;
  },

  /** Applies encoded changes in one transaction. After an error the database is closed: nothing may follow then. */
  apply(changes: readonly string[]): void {
    try {
      if (current === null) throw new Error('no database is open');
      current.apply(changes);
    } catch (error) {
      closeCurrent();
      throw error;
    }
  },

  create(path: string, form: DatabaseForm): void {
    if (isInUse) throw new Error('another process uses the folder');
    discardUnfinished();
    remove(path);
    unfinished = { path, database: new Database(path, form) };
  },

  putRows(kind: string, values: Float64Array, ends: Uint32Array): void {
    unfinished?.database.putRows(kind, values, ends);
  },

  /** Completes the new database, applies these changes to it, and puts it in the place of the old one. */
  replace(path: string, form: DatabaseForm, head: Head, changes: readonly string[]): void {
    if (unfinished === null) throw new Error('no new database was begun');
    const { database, path: newPath } = unfinished;
    database.setHead(head);
    database.apply(changes);
    unfinished = null;
    database.closeFlushed();
    closeCurrent();
    // The log of the old one must not be taken for one of the new one.
    rmSync(`${path}-wal`, { force: true });
    renameSync(newPath, path);
    current = new Database(path, form);
    current.readHead();
  },

  discard: discardUnfinished,

  /** Renames a database that cannot be used. */
  setAside(path: string, newPath: string): void {
    closeCurrent();
    for (const [i, file] of filesOf(path).entries()) {
      if (existsSync(file)) renameSync(file, filesOf(newPath)[i] ?? newPath);
    }
  },

  close: closeCurrent,
} as const;

export type DatabaseCalls = typeof databaseCalls;

parentPort?.on('message', (call: { name: keyof DatabaseCalls; args: readonly unknown[] }) => {
  try {
    const work = databaseCalls[call.name] as (...args: readonly unknown[]) => unknown;
    const result = work(...call.args);
    const { json } = (result ?? {}) as Partial<StoredRows>;
    parentPort?.postMessage({ result }, json === undefined ? [] : [json.buffer]);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    parentPort?.postMessage({ error, code: isDamage(error) ? DAMAGED : code });
  }
});
