import type { PublishedChange } from '@weir/change-feed';
import { settled, type TransactionMark } from '../platform/database/commit-inquiry.js';
import type { Database } from '../platform/database/database.js';
import { type Attempt, attempt, type Work } from './change-attempt.js';
import { lockHead, logChanges } from './change-log.js';
import type { Turns } from './turns.js';

/** A change that was asked for, and whoever waits to hear what became of it. */
interface Wanted {
  readonly work: Work<unknown>;
  readonly settle: (attempt: Attempt<unknown>) => void;
  /** Its turn, at which it is the first of a group. */
  readonly turn: () => Promise<void>;
}

/** Bounds of what is committed together, because the first of a group waits for the last. */
export interface GroupLimits {
  readonly changes: number;
  /** A group that has taken this long gets no more. */
  readonly growsForMs: number;
}

const LIMITS: GroupLimits = { changes: 32, growsForMs: 20 };

/**
 * Makes changes in the order in which they were asked for. Those that come while one is made wait, and are then made in
 * one transaction: each as if it were alone, on what those before it left, with a revision of its own.
 */
export class GroupCommit {
  /** Not begun yet; each has a turn to come, unless an earlier one takes it up. */
  private readonly wanted = new Set<Wanted>();

  /** @param onCommitted is given each transaction's changes, in order, before anybody hears of them. */
  constructor(
    private readonly database: Database,
    private readonly turns: Turns,
    private readonly onCommitted: (changes: readonly PublishedChange[]) => Promise<void>,
    private readonly limits = LIMITS,
  ) {}

  /** What became of a work, for good: its transaction is over. */
  make<T>(work: Work<T>): Promise<Attempt<T>> {
    const { promise, resolve } = Promise.withResolvers<Attempt<T>>();
    const turn = (): Promise<void> => this.commitGroup(wanted);
    const wanted: Wanted = { work, settle: resolve as Wanted['settle'], turn };
    this.wanted.add(wanted);
    this.turns.take(turn).catch((reason: unknown) => {
      // Its turn did not come in time. If a group has just taken it up, that will tell.
      if (this.wanted.delete(wanted)) wanted.settle({ type: 'refused', reason });
    });
    return promise;
  }

  private async commitGroup(first: Wanted): Promise<void> {
    this.wanted.delete(first);
    const group = [first];
    try {
      const attempts = await settled<Attempt<unknown>[]>(this.database.pool, (committing) =>
        this.tryGroup(group, committing),
      );
      await this.onCommitted(changesOf(attempts));
      group.forEach(({ settle }, i) => settle(attempts[i]));
    } catch (reason) {
      // Nothing stands, and what one was refused for may have been undone with the others.
      for (const { settle } of group) settle({ type: 'refused', reason });
    }
  }

  /** @param group grows by those that are taken up; the attempts are in its order. */
  private tryGroup(
    group: Wanted[],
    committing: (attempts: Attempt<unknown>[], mark: TransactionMark) => void,
  ): Promise<Attempt<unknown>[]> {
    return this.database.writes.use(async (client, tx) => {
      const [, locked] = await Promise.all([client.query('BEGIN'), lockHead(client)]);
      const endMs = performance.now() + this.limits.growsForMs;
      const attempts: Attempt<unknown>[] = [];
      let { head } = locked;
      for (const { work } of group) {
        const tried = await attempt(client, tx, head, work);
        attempts.push(tried.attempt);
        head = tried.head;
        const next =
          group.length < this.limits.changes && performance.now() < endMs ? this.next() : undefined;
        // The loop goes on with it.
        if (next !== undefined) group.push(next);
      }
      const changes = changesOf(attempts);
      if (changes.length === 0) {
        await client.query('ROLLBACK');
      } else {
        committing(attempts, locked.mark);
        await Promise.all([logChanges(client, changes), client.query('COMMIT')]);
      }
      return attempts;
    });
  }

  /**
   * Takes up the one that has waited longest. Its own turn is not needed any more, and would keep those behind it
   * waiting.
   */
  private next(): Wanted | undefined {
    const [next] = this.wanted;
    if (next === undefined) return undefined;
    this.wanted.delete(next);
    this.turns.withdraw(next.turn);
    return next;
  }
}

function changesOf(attempts: readonly Attempt<unknown>[]): PublishedChange[] {
  return attempts.flatMap((one) => (one.type === 'changed' ? [one.change] : []));
}
