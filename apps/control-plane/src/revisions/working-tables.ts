import type { Transaction } from '../platform/database/transaction.js';
import type { LockedHead } from './change-log.js';

/**
 * The rows of one kind that a group of changes needs: as they are stored, and as the changes before left them. A change
 * first names what it needs, so that one statement reads it for all.
 */
export interface WorkingTable {
  /** Reads what the changes need. Does nothing when they need nothing. */
  read(tx: Transaction, head: LockedHead): Promise<void>;
  /** Writes what the changes did. The tables that it refers to have written before. */
  write(tx: Transaction): Promise<void>;
  /** Deletes rows to which other tables have referred. All tables have written before. */
  deleteReferenced?(tx: Transaction): Promise<void>;
}

/**
 * Creates a table when it is asked for first. The function identifies it. It first asks for the tables to which the
 * rows of this one refer.
 */
export type OpenTable<T extends WorkingTable> = (tables: WorkingTables) => T;

/** The working tables of a group. */
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

  async read(tx: Transaction, head: LockedHead): Promise<void> {
    await allSettled(Array.from(this.tables.values(), (table) => table.read(tx, head)));
  }

  async write(tx: Transaction): Promise<void> {
    const tables = [...this.tables.values()];
    for (const table of tables) await table.write(tx);
    for (const table of tables.reverse()) await table.deleteReferenced?.(tx);
  }
}

/** Also when one fails, no query may be under way afterwards: it would run after the transaction. */
async function allSettled(works: readonly Promise<void>[]): Promise<void> {
  for (const one of await Promise.allSettled(works)) {
    if (one.status === 'rejected') throw one.reason;
  }
}
