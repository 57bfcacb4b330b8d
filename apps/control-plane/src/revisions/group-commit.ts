import type { PublishedChange } from '@weir/change-feed';
import { confirmCommit, type TransactionIdentity } from '../platform/database/commit-outcome.js';
import type { Database } from '../platform/database/database.js';
import { lockHead, logChanges } from './change-log.js';
import { type ChangeOutcome, tryChange, type Work } from './try-change.js';
import type { WriteQueue } from './write-queue.js';

/** A change that waits to be made. */
interface PendingChange {
  readonly work: Work<unknown>;
  readonly resolve: (outcome: ChangeOutcome<unknown>) => void;
  /** Its task in the queue, which makes it the first change of a group. */
  readonly task: () => Promise<void>;
}

/** Bounds of a group: its first change waits until its last one is made. */
export interface GroupLimits {
  readonly maxChanges: number;
  /** After this time no change is added. */
  readonly maxMs: number;
}

const LIMITS: GroupLimits = { maxChanges: 32, maxMs: 20 };

/**
 * Makes changes in the order in which they were submitted. Changes that arrive while one is being made wait, and are
 * then made in one transaction. Each sees what the ones before it wrote, and has its own revision.
 */
export class GroupCommit {
  /** Not started. Each has a task in the queue, unless a group takes it first. */
  private readonly pending = new Set<PendingChange>();

  /** @param onCommitted gets the changes of each transaction, in order, before any caller gets its outcome. */
  constructor(
    private readonly database: Database,
    private readonly queue: WriteQueue,
    private readonly onCommitted: (changes: readonly PublishedChange[]) => Promise<void>,
    private readonly limits = LIMITS,
  ) {}

  /** @returns the final outcome: the transaction has ended. */
  submit<T>(work: Work<T>): Promise<ChangeOutcome<T>> {
    const { promise, resolve } = Promise.withResolvers<ChangeOutcome<T>>();
    const task = (): Promise<void> => this.commitGroup(pending);
    const pending: PendingChange = { work, resolve: resolve as PendingChange['resolve'], task };
    this.pending.add(pending);
    this.queue.run(task).catch((reason: unknown) => {
      // The wait has failed. If a group has taken the change meanwhile, the group resolves it.
      if (this.pending.delete(pending)) pending.resolve({ type: 'failed', reason });
    });
    return promise;
  }

  private async commitGroup(first: PendingChange): Promise<void> {
    this.pending.delete(first);
    const group = [first];
    try {
      const outcomes = await confirmCommit<ChangeOutcome<unknown>[]>(
        this.database.pool,
        (beforeCommit) => this.tryGroup(group, beforeCommit),
      );
      await this.onCommitted(changesOf(outcomes));
      group.forEach(({ resolve }, i) => resolve(outcomes[i]));
    } catch (reason) {
      // Nothing was committed. A change may have failed because of another one that is now undone: all get the same
      // reason.
      for (const { resolve } of group) resolve({ type: 'failed', reason });
      // For the queue.
      throw reason;
    }
  }

  /** @param group grows by the changes that are added; the outcomes are in its order. */
  private tryGroup(
    group: PendingChange[],
    beforeCommit: (outcomes: ChangeOutcome<unknown>[], transaction: TransactionIdentity) => void,
  ): Promise<ChangeOutcome<unknown>[]> {
    return this.database.writes.use(async (client, tx) => {
      const [, locked] = await Promise.all([client.query('BEGIN'), lockHead(client)]);
      const endMs = performance.now() + this.limits.maxMs;
      const outcomes: ChangeOutcome<unknown>[] = [];
      let { head } = locked;
      for (const { work } of group) {
        const tried = await tryChange(client, tx, head, work);
        outcomes.push(tried.outcome);
        head = tried.head;
        const hasRoom = group.length < this.limits.maxChanges && performance.now() < endMs;
        const next = hasRoom ? this.takeNext() : undefined;
        // The loop continues with it.
        if (next !== undefined) group.push(next);
      }
      const changes = changesOf(outcomes);
      if (changes.length === 0) {
        await client.query('ROLLBACK');
      } else {
        beforeCommit(outcomes, locked.transaction);
        await Promise.all([logChanges(client, changes), client.query('COMMIT')]);
      }
      return outcomes;
    });
  }

  /**
   * Takes the change that has waited longest. Its task is removed from the queue, where it would delay those behind it.
   */
  private takeNext(): PendingChange | undefined {
    const [next] = this.pending;
    if (next === undefined) return undefined;
    this.pending.delete(next);
    this.queue.remove(next.task);
    return next;
  }
}

function changesOf(outcomes: readonly ChangeOutcome<unknown>[]): PublishedChange[] {
  return outcomes.flatMap((one) => (one.type === 'changed' ? [one.change] : []));
}
