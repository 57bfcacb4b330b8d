import type { Transaction } from './try-change.js';

/**
 * The rows of one kind that a group of changes needs: as they are stored, and as the changes before left them. A change
 * first names what it needs, so that one statement reads it for all.
 */
export interface WorkingTable {
  /** Reads what the changes need. Does nothing when they need nothing. */
  read(tx: Transaction): Promise<void>;
  /** Writes what the changes did. */
  write(tx: Transaction): Promise<void>;
}

/** The working tables of a group. */
export class WorkingTables {
  private readonly tables = new Map<() => WorkingTable, WorkingTable>();

  /** @param open creates the table when it is asked for first. The function identifies it. */
  of<T extends WorkingTable>(open: () => T): T {
    const table = this.tables.get(open) ?? open();
    this.tables.set(open, table);
    return table as T;
  }

  async read(tx: Transaction): Promise<void> {
    await allSettled(Array.from(this.tables.values(), (table) => table.read(tx)));
  }

  async write(tx: Transaction): Promise<void> {
    await allSettled(Array.from(this.tables.values(), (table) => table.write(tx)));
  }
}

/** Also when one fails, no query may be under way afterwards: it would run after the transaction. */
async function allSettled(works: readonly Promise<void>[]): Promise<void> {
  for (const one of await Promise.allSettled(works)) {
    if (one.status === 'rejected') throw one.reason;
  }
}
