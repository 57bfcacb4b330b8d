import type { Applied } from '@weir/change-feed';
import type { ClientBase } from 'pg';
import { confirmCommit, type TransactionIdentity } from '../platform/database/commit-outcome.js';
import type { Database } from '../platform/database/database.js';
import { isStatementTimeout } from '../platform/database/database-errors.js';
import type { Transaction } from '../platform/database/transaction.js';
import { type LockedHead, lockHead, logChanges, WAIT_MS } from './change-log.js';
import { changed, type ChangeOrigin, type MadeChange, type WorkResult } from './change-record.js';
import { WithRevision } from './with-revision.js';
import { type SubmittedChange, WorkingTables } from './working-tables.js';
import { Deadline, type WriteQueue } from './write-queue.js';

/** A submitted change that waits in the queue, and whom to tell. */
interface PendingChange extends ChangeOrigin {
  readonly change: SubmittedChange<unknown>;
  readonly deadline: Deadline;
  readonly resolve: (done: Promise<WithRevision<unknown>>) => void;
  readonly reject: (reason: unknown) => void;
  /** Its task in the queue, which makes it the first change of a group. */
  readonly task: () => Promise<void>;
}

/** The outcomes of several changes, in their order. They are final only when the transaction is committed. */
type Outcomes = readonly PromiseSettledResult<MadeChange>[];

/** Bounds of a group: its first change waits until its last one is made. */
export interface GroupLimits {
  readonly maxChanges: number;
  /** Items of all its changes together. A change with more is a group of its own. */
  readonly maxItems: number;
  /** Longest time that a change waits for those before it, of this replica and of the others. */
  readonly waitMs: number;
}

export const LIMITS: GroupLimits = { maxChanges: 256, maxItems: 10_000, waitMs: WAIT_MS };

/**
 * Makes changes in the order in which they were submitted. Those that wait when the head has been locked are made in
 * one transaction, each on top of those before it. A change that was submitted after a waiting change with a
 * transaction of its own may be made before that one.
 */
export class GroupCommit {
  /** Not started. Each has a task in the queue, unless a group takes it first. */
  private readonly pending = new Set<PendingChange>();

  /** @param onCommitted gets the changes of each transaction, in order, before any caller does. It must not reject. */
  constructor(
    private readonly database: Database,
    private readonly queue: WriteQueue,
    private readonly onCommitted: (changes: readonly MadeChange[]) => Promise<Applied>,
    private readonly limits = LIMITS,
  ) {}

  /**
   * @returns its result and revision, when the transaction is committed and `onCommitted` has resolved.
   * @throws the error of the change itself, or of its transaction
   */
  submit<T>(change: SubmittedChange<T>, origin: ChangeOrigin): Promise<WithRevision<T>> {
    const { promise, resolve, reject } = Promise.withResolvers<WithRevision<T>>();
    const task = (): Promise<void> => this.commitGroup(pending);
    const pending: PendingChange = {
      change,
      ...origin,
      deadline: new Deadline(this.limits.waitMs),
      resolve: resolve as PendingChange['resolve'],
      ...{ reject, task },
    };
    this.pending.add(pending);
    this.queue.run(task, pending.deadline).catch((reason: unknown) => {
      // The wait has failed. If a group has taken the change meanwhile, the group resolves it.
      if (this.pending.delete(pending)) fail(pending, reason);
    });
    return promise;
  }

  private async commitGroup(first: PendingChange): Promise<void> {
    this.pending.delete(first);
    const group = [first];
    first.trace?.beginTransaction(null);
    try {
      const outcomes = await confirmCommit<Outcomes>(
        this.database.pool,
        (beforeCommit) => this.tryGroup(group, first.deadline, beforeCommit),
        this.limits.waitMs,
      );
      for (const { trace } of group) trace?.endTransaction(group.length);
      const changes = madeOf(outcomes);
      const applied = changes.length === 0 ? null : this.onCommitted(changes);
      for (const [i, { resolve, reject }] of group.entries()) {
        const outcome = outcomes[i];
        if (outcome.status === 'rejected') reject(outcome.reason);
        else if (applied !== null) resolve(resultOf(outcome.value, applied));
      }
    } catch (reason) {
      // Nothing was committed, unless that is unknown. A change may have failed because of another one, now undone.
      for (const one of group) fail(one, reason);
      // For the queue.
      throw reason;
    }
  }

  /** @param group grows by the changes that wait; the outcomes are in its order. */
  private tryGroup(
    group: PendingChange[],
    deadline: Deadline,
    beforeCommit: (outcomes: Outcomes, transaction: TransactionIdentity) => void,
  ): Promise<Outcomes> {
    return this.database.write(async (client, tx) => {
      const [, locked] = await Promise.all([client.query('BEGIN'), lockHead(client, { deadline })]);
      this.takeWaiting(group);
      const { outcomes } = await makeTogether(client, tx, locked.head, group);
      const changes = madeOf(outcomes);
      if (changes.length === 0) {
        await client.query('ROLLBACK');
      } else {
        beforeCommit(outcomes, locked.transaction);
        // PostgreSQL makes a COMMIT after a statement that failed a ROLLBACK.
        await Promise.all([logChanges(client, changes), client.query('COMMIT')]);
      }
      return outcomes;
    });
  }

  /** Moves the changes that wait to the group, those first that have waited longest. */
  private takeWaiting(group: PendingChange[]): void {
    let [{ trace: first }] = group;
    let items = group[0].change.items ?? 1;
    for (const next of this.pending) {
      items += next.change.items ?? 1;
      if (group.length >= this.limits.maxChanges || items > this.limits.maxItems) return;
      this.pending.delete(next);
      // It would delay those behind it.
      this.queue.remove(next.task);
      next.trace?.beginTransaction(first);
      first ??= next.trace;
      group.push(next);
    }
  }
}

/** Resolves when the change is in force, or was awaited for long enough. */
export async function resultOf<T>(
  { result, change }: MadeChange<T>,
  applied: Promise<Applied>,
): Promise<WithRevision<T>> {
  return new WithRevision(result, change.revision, await applied);
}

function fail({ reject, trace }: PendingChange, reason: unknown): void {
  trace?.fail();
  reject(reason);
}

function madeOf(outcomes: Outcomes): MadeChange[] {
  return outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
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
 * @throws Error when the transaction cannot continue, or a statement took too long: each change by itself would wait as
 *   long once more.
 */
async function makeTogether(
  client: ClientBase,
  tx: Transaction,
  head: LockedHead,
  changes: readonly PendingChange[],
): Promise<Made> {
  const [savepoint, made] = await Promise.allSettled([
    client.query('SAVEPOINT change'),
    make(tx, head, changes),
  ]);
  if (savepoint.status === 'rejected') throw savepoint.reason;
  if (made.status === 'fulfilled') return made.value;
  if (isStatementTimeout(made.reason)) throw made.reason;
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
  changes: readonly PendingChange[],
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
