import type { ClientBase } from 'pg';
import type { Transaction } from '../platform/database/transaction.js';
import type { LockedHead } from './change-log.js';
import { changed, type ChangeOutcome, type WorkResult } from './change-outcome.js';
import { WorkingTables } from './working-tables.js';

/** A change that shares its statements with the other changes of its group. */
export interface GroupedChange<T> {
  /** How many items its request lists; 1 unless given. Changes with many share a transaction with few others. */
  readonly items?: number;
  /** Names what its checks need. */
  need(tables: WorkingTables): void;
  /**
   * Checks, and changes the tables. It sees what the changes before it did. When it throws, it has changed nothing.
   */
  make(tables: WorkingTables): WorkResult<T>;
}

interface Made {
  /** In the order of the changes. */
  readonly outcomes: readonly ChangeOutcome<unknown>[];
  /** The head after them. */
  readonly head: LockedHead;
}

/**
 * Makes changes in order inside a transaction: one statement reads all rows of a kind, and one or two write them. When
 * a statement fails, they are made one by one, and those whose own statement fails have this as their reason.
 * @throws Error when the transaction cannot continue.
 */
export async function makeTogether(
  client: ClientBase,
  tx: Transaction,
  head: LockedHead,
  changes: readonly GroupedChange<unknown>[],
): Promise<Made> {
  const [savepoint, made] = await Promise.allSettled([
    client.query('SAVEPOINT change'),
    make(tx, head, changes),
  ]);
  if (savepoint.status === 'rejected') throw savepoint.reason;
  if (made.status === 'fulfilled') return made.value;
  await client.query('ROLLBACK TO SAVEPOINT change');
  const [only] = changes;
  if (changes.length === 1 && only !== undefined) {
    return { outcomes: [{ type: 'failed', reason: made.reason }], head };
  }
  const outcomes: ChangeOutcome<unknown>[] = [];
  let last = head;
  for (const change of changes) {
    const one = await makeTogether(client, tx, last, [change]);
    outcomes.push(...one.outcomes);
    last = one.head;
  }
  return { outcomes, head: last };
}

async function make(
  tx: Transaction,
  head: LockedHead,
  changes: readonly GroupedChange<unknown>[],
): Promise<Made> {
  const tables = new WorkingTables();
  for (const change of changes) change.need(tables);
  await tables.read(tx, head);
  const outcomes: ChangeOutcome<unknown>[] = [];
  let last = head;
  for (const change of changes) {
    let done: WorkResult<unknown>;
    try {
      done = change.make(tables);
    } catch (reason) {
      outcomes.push({ type: 'failed', reason });
      continue;
    }
    const made = changed(last, done);
    outcomes.push(made);
    last = { ...last, revision: made.change.revision, digest: made.change.digest };
  }
  await tables.write(tx);
  return { outcomes, head: last };
}
