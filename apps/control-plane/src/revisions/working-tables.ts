import { Prisma } from '../generated/prisma/client.js';
import type { Transaction } from '../platform/database/transaction.js';
import type { WorkResult } from './change-record.js';

/**
 * The rows of one kind that a group of changes needs: as they are stored, and as the changes before left them. A change
 * first names what it needs, so that one statement reads it for all.
 */
export interface WorkingTable {
  /** Reads what the changes need. Does nothing when they need nothing. */
  read(tx: Transaction): Promise<void>;
  /** Writes the rows that the changes have altered. The tables that these rows refer to have written before. */
  write?(tx: Transaction): Promise<void>;
  /** Deletes rows to which other tables have referred. All tables have written before. */
  deleteReferenced?(tx: Transaction): Promise<void>;
}

/** Creates a table, and identifies it. It first asks for the tables to which the rows of this one refer. */
export type OpenTable<T extends WorkingTable> = (tables: WorkingTables) => T;

export class WorkingTables {
  /** Each comes after those that it refers to. */
  private readonly tables = new Map<OpenTable<WorkingTable>, WorkingTable>();

  of<T extends WorkingTable>(open: OpenTable<T>): T {
    const known = this.tables.get(open);
    if (known !== undefined) return known as T;
    const table = open(this);
    this.tables.set(open, table);
    return table;
  }

  async read(tx: Transaction): Promise<void> {
    const reads = Array.from(this.tables.values(), (table) => table.read(tx));
    // Also when one fails, no query may be under way afterwards: it would run after the transaction.
    for (const one of await Promise.allSettled(reads)) {
      if (one.status === 'rejected') throw one.reason;
    }
  }

  async write(tx: Transaction): Promise<void> {
    const tables = [...this.tables.values()];
    for (const table of tables) await table.write?.(tx);
    for (const table of tables.reverse()) await table.deleteReferenced?.(tx);
  }
}

/** A change as it is submitted. It shares its statements with the other changes of its group. */
export interface SubmittedChange<T> {
  /** How many items its request lists; 1 unless given. Changes with many share a transaction with few others. */
  readonly items?: number;
  /** Names what its checks need. */
  need(tables: WorkingTables): void;
  /**
   * Checks, and changes the tables. It sees what the changes before it did. When it throws, it has changed nothing.
   * @param revision that it gets.
   */
  make(tables: WorkingTables, revision: number): WorkResult<T>;
}

/** Rows by key: as they are stored, and as the changes of a group left them. */
export class WorkingRows<R> {
  /** Every key that was asked for. Null: no such row. */
  private readonly stored = new Map<string, R | null>();
  private readonly current = new Map<string, R | null>();

  /** A key whose row, if there is one, `load` will bring. */
  need(key: string): void {
    this.stored.set(key, null);
  }

  load(key: string, row: R): void {
    this.stored.set(key, row);
  }

  get(key: string): R | null {
    const current = this.current.get(key);
    if (current !== undefined) return current;
    const stored = this.stored.get(key);
    if (stored === undefined) throw new Error('a change did not name what it needs');
    return stored;
  }

  /** @param row null deletes it. */
  set(key: string, row: R | null): void {
    this.current.set(key, row);
  }

  /** The rows that are not as they are stored: as they were, and as they are. Null: there is no such row. */
  changes(): { readonly before: R | null; readonly after: R | null }[] {
    return Array.from(this.current, ([key, after]) => {
      return { before: this.stored.get(key) ?? null, after };
    }).filter(({ before, after }) => before !== after);
  }
}

/** By its name a column: its type in PostgreSQL, and its value, as JSON has it. */
type Columns<R> = Readonly<Record<string, readonly [type: string, valueOf: (row: R) => unknown]>>;

interface StoredTable<R extends K, K> {
  readonly name: string;
  /** The primary key. */
  readonly key: Columns<K>;
  readonly rest: Columns<R>;
  /** What is selected for the fields of a row. */
  readonly select: string;
}

/**
 * The statements for the rows of a table. They get at least one key or row, all of them as one JSON text: its length is
 * not that of the statement, and the driver takes long to escape the texts of a list.
 */
export class RowStore<R extends K, K> {
  private readonly table: Prisma.Sql;
  private readonly keyColumns: Prisma.Sql;

  constructor(private readonly stored: StoredTable<R, K>) {
    this.table = Prisma.raw(stored.name);
    this.keyColumns = Prisma.raw(`(${Object.keys(stored.key).join(', ')})`);
  }

  /** Identifies a row. */
  textOf(key: K): string {
    return Object.values(this.stored.key)
      .map(([, valueOf]) => String(valueOf(key)))
      .join(' ');
  }

  select(tx: Transaction, keys: readonly K[]): Promise<R[]> {
    return tx.$queryRaw`
      SELECT ${Prisma.raw(this.stored.select)} FROM ${this.table}
      WHERE ${this.keyColumns} IN (${rowsOf(this.stored.key, keys)})`;
  }

  /** Fails when there is a row with one of the keys. */
  insert(tx: Transaction, rows: readonly R[], onConflict = Prisma.empty): Promise<unknown> {
    const { key, rest } = this.stored;
    const columns: Columns<R> = { ...key, ...rest };
    return tx.$executeRaw`
      INSERT INTO ${this.table} (${Prisma.raw(Object.keys(columns).join(', '))})
      ${rowsOf(columns, rows)} ${onConflict}`;
  }

  replace(tx: Transaction, rows: readonly R[]): Promise<unknown> {
    const values = Object.keys(this.stored.rest).map((name) => `${name} = EXCLUDED.${name}`);
    const update = Prisma.raw(values.join(', '));
    return this.insert(
      tx,
      rows,
      Prisma.sql`ON CONFLICT ${this.keyColumns} DO UPDATE SET ${update}`,
    );
  }

  delete(tx: Transaction, keys: readonly K[]): Promise<unknown> {
    return tx.$executeRaw`
      DELETE FROM ${this.table} WHERE ${this.keyColumns} IN (${rowsOf(this.stored.key, keys)})`;
  }
}

/** A query that gives these values. */
function rowsOf<R>(columns: Columns<R>, rows: readonly R[]): Prisma.Sql {
  const entries = Object.entries(columns);
  const json = rows.map((row) =>
    Object.fromEntries(entries.map(([name, [, valueOf]]) => [name, valueOf(row)])),
  );
  const types = Prisma.raw(entries.map(([name, [type]]) => `${name} ${type}`).join(', '));
  return Prisma.sql`
    SELECT * FROM jsonb_to_recordset(${JSON.stringify(json)}::jsonb) AS submitted (${types})`;
}

/** The rows of a table that a group of changes needs. */
export class RowsTable<R extends K, K> implements WorkingTable {
  protected readonly rows = new WorkingRows<R>();
  protected readonly needed: K[] = [];

  constructor(private readonly store: RowStore<R, K>) {}

  need(key: K): void {
    this.rows.need(this.store.textOf(key));
    this.needed.push(key);
  }

  find(key: K): R | null {
    return this.rows.get(this.store.textOf(key));
  }

  put(row: R): void {
    this.rows.set(this.store.textOf(row), row);
  }

  delete(key: K): void {
    this.rows.set(this.store.textOf(key), null);
  }

  async read(tx: Transaction): Promise<void> {
    if (this.needed.length === 0) return;
    for (const row of await this.select(tx, this.needed)) this.load(row);
  }

  async write(tx: Transaction): Promise<void> {
    await this.writeDeletions(tx);
    const changes = this.rows.changes();
    const added = changes.flatMap(({ before, after }) => (before === null && after) || []);
    const replaced = changes.flatMap(({ before, after }) => (before !== null && after) || []);
    // A row that somebody else has added meanwhile is not overwritten.
    if (added.length > 0) await this.store.insert(tx, added);
    if (replaced.length > 0) await this.store.replace(tx, replaced);
  }

  protected select(tx: Transaction, keys: readonly K[]): Promise<R[]> {
    return this.store.select(tx, keys);
  }

  protected load(row: R): void {
    this.rows.load(this.store.textOf(row), row);
  }

  protected async writeDeletions(tx: Transaction): Promise<void> {
    const deleted = this.rows
      .changes()
      .flatMap(({ before, after }) =>
        before !== null && this.isDeleted(before, after) ? [before] : [],
      );
    if (deleted.length > 0) await this.store.delete(tx, deleted);
  }

  /** Whether a row is deleted before others are written. What it becomes is written anew. */
  protected isDeleted(_before: R, after: R | null): boolean {
    return after === null;
  }
}
