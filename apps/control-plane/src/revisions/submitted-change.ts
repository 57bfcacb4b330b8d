import type { ClientBase } from 'pg';
import { isLockTimeout } from '../platform/database/database-errors.js';
import type { Transaction } from '../platform/database/transaction.js';
import type { LockedHead } from './change-log.js';
import {
  type ChangeOrigin,
  concernedProfiles,
  encodeEntityChanges,
  type EntityChange,
  type MadeChange,
  submittedKeys,
} from './change-record.js';
import { WorkingTables } from './working-tables.js';

/** What a change did inside its transaction. */
export interface WorkResult<T> {
  readonly result: T;
  readonly changes: readonly EntityChange[];
  /** What it changed beside the configuration, in the form of its record. */
  readonly besides?: readonly (readonly ['put', 'catalogueSource', readonly [string]])[];
}

/** The outcomes of several changes, in their order. They are final only when the transaction is committed. */
export type Outcomes = readonly PromiseSettledResult<MadeChange>[];

/** A change that has done its work on top of `head`. */
export function changed<T>(
  { lineage, revision: before, digest: digestBefore }: LockedHead,
  { result, changes, besides = [] }: WorkResult<T>,
  { author, trace }: ChangeOrigin,
): MadeChange<T> {
  const { operations, digest } = encodeEntityChanges(digestBefore, changes);
  const change = { lineage, revision: before + 1, digest, operations };
  const profiles = concernedProfiles(changes);
  const keys = submittedKeys(changes);
  return { result, change, profiles, keys, besides, author, trace };
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

export interface Submission extends ChangeOrigin {
  readonly change: SubmittedChange<unknown>;
}

interface Made {
  /** In the order of the changes. */
  readonly outcomes: Outcomes;
  /** The head after them. */
  readonly head: LockedHead;
}

/**
 * Makes changes in order inside a transaction: one statement reads all rows of a kind, and one or two write them. When
 * a statement fails, they are made one by one, and those whose own statement fails have this as their reason.
 * @throws Error when the transaction cannot continue, or a lock was waited for too long: each change by itself would
 *   wait as long once more.
 */
export async function makeTogether(
  client: ClientBase,
  tx: Transaction,
  head: LockedHead,
  changes: readonly Submission[],
): Promise<Made> {
  const [savepoint, made] = await Promise.allSettled([
    client.query('SAVEPOINT change'),
    make(tx, head, changes),
  ]);
  if (savepoint.status === 'rejected') throw savepoint.reason;
  if (made.status === 'fulfilled') return made.value;
  if (isLockTimeout(made.reason)) throw made.reason;
  await client.query('ROLLBACK TO SAVEPOINT change');
  if (changes.length === 1) return { outcomes: [made], head };
  const outcomes: PromiseSettledResult<MadeChange>[] = [];
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
  changes: readonly Submission[],
): Promise<Made> {
  const tables = new WorkingTables();
  for (const { change } of changes) change.need(tables);
  await tables.read(tx);
  const outcomes: PromiseSettledResult<MadeChange>[] = [];
  let last = head;
  for (const one of changes) {
    let done: WorkResult<unknown>;
    try {
      done = one.change.make(tables, last.revision + 1);
    } catch (reason) {
      outcomes.push({ status: 'rejected', reason });
      continue;
    }
    const value = changed(last, done, one);
    outcomes.push({ status: 'fulfilled', value });
    last = { ...last, revision: value.change.revision, digest: value.change.digest };
  }
  await tables.write(tx);
  return { outcomes, head: last };
}
