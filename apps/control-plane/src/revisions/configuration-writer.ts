import { Injectable } from '@nestjs/common';
import type { Applied, Position, PublishedChange } from '@weir/change-feed';
import type { PoolClient } from 'pg';
import { confirmCommit, type TransactionIdentity } from '../platform/database/commit-outcome.js';
import type { Database } from '../platform/database/database.js';
import type { Transaction } from '../platform/database/transaction.js';
import { type Author, currentAuthor, currentSpan } from './author.js';
import { type LockedHead, lockHead, logChanges, toLogEntries, WAIT_MS } from './change-log.js';
import {
  changed,
  type ChangeOrigin,
  type MadeChange,
  type WorkResult,
} from './submitted-change.js';
import { EVERY_PROFILE } from './change-record.js';
import { ChangeTrace, type TracedChange, propagateTraced } from './change-trace.js';
import { GroupCommit, LIMITS } from './group-commit.js';
import type { SubmittedChange } from './submitted-change.js';
import { WithRevision } from './with-revision.js';
import { Deadline, WriteQueue } from './write-queue.js';

export type { LockedHead, Transaction };

/** What the writer needs of the publisher of the change feed. */
export interface Propagation {
  /** @param changes committed together, in order; at least one. */
  publish(changes: readonly PublishedChange[]): Promise<void>;
  /** Waits until the last of them is in force on every live resolver, at most `timeoutMs`. */
  waitApplied(changes: readonly Position[], timeoutMs: number): Promise<Applied>;
}

/** A transaction that replaces the whole configuration. */
export interface Replacement {
  /**
   * Locks the head, writes, and logs the change with its author.
   * @param waitMs longest wait for the head.
   */
  load(author: Author, waitMs: number): Promise<LoggedChange>;
  commit(): Promise<void>;
}

/** A change that is logged in a transaction. */
interface LoggedChange {
  readonly change: PublishedChange;
  readonly transaction: TransactionIdentity;
}

/** Longest times to wait for a change: until the resolvers have applied it, and for those before it. */
export interface ChangeTimeouts {
  readonly changeMs: number;
  /** For a replacement of the whole configuration: the resolvers load a snapshot. */
  readonly replacementMs: number;
  /** Longest time that a change waits for the changes before it in all, those of other replicas included. */
  readonly waitMs?: number;
}

/** Makes a change in a transaction of its own. Null: there was nothing to do. */
type LoneChange<T> = (origin: ChangeOrigin, deadline: Deadline) => Promise<MadeChange<T> | null>;

/**
 * The only way to change the configuration. One transaction locks the head, does the work, logs the operations with a
 * record of who made them, and moves the head. Then the change is published, and the writer waits for the resolvers.
 */
@Injectable()
export class ConfigurationWriter {
  /**
   * Orders the changes of this replica, so that waiting ones hold no connection. The lock of the head orders the
   * replicas.
   */
  private readonly queue = new WriteQueue();
  private readonly commits: GroupCommit;
  private readonly waitMs: number;

  constructor(
    private readonly database: Database,
    private readonly propagation: Propagation,
    private readonly timeouts: ChangeTimeouts,
    /** Throws when this process must not change the database. It is called before each change. */
    private readonly admit: () => Promise<void> = () => Promise.resolve(),
  ) {
    this.waitMs = timeouts.waitMs ?? WAIT_MS;
    const onCommitted = (committed: readonly TracedChange[]): Promise<Applied> =>
      this.propagate(committed, timeouts.changeMs);
    const limits = { ...LIMITS, waitMs: this.waitMs };
    this.commits = new GroupCommit(database, this.queue, onCommitted, limits);
  }

  /**
   * Makes a change together with those that wait. When it throws, nothing is changed and no revision is taken.
   * @returns the result with the revision of the change, when the resolvers have applied it or the timeout is over.
   */
  async write<T>(change: SubmittedChange<T>): Promise<WithRevision<T>> {
    await this.admit();
    const { outcome, applied } = await this.commits.submit(change, currentAuthor(), currentSpan());
    if (outcome.type === 'failed') throw outcome.reason;
    return new WithRevision(outcome.result, outcome.change.revision, await applied);
  }

  /**
   * Makes a change in a transaction of its own.
   * @param work checks and writes. When it throws, everything is undone. Null: there is nothing to do.
   * @returns null when there was nothing to do.
   */
  writeAlone<T>(
    work: (client: PoolClient) => Promise<WorkResult<T> | null>,
  ): Promise<WithRevision<T> | null> {
    const { writes, pool } = this.database;
    return this.writeLone(this.timeouts.changeMs, (origin, deadline) =>
      writes.use((client) =>
        confirmCommit<MadeChange<T> | null>(
          pool,
          async (beforeCommit) => {
            await client.query('BEGIN');
            const { head, transaction } = await lockHead(client, { deadline });
            const done = await work(client);
            const made = done && changed(head, done, origin);
            if (made !== null) {
              await logChanges(client, toLogEntries([made]));
              beforeCommit(made, transaction);
            }
            await client.query('COMMIT');
            return made;
          },
          this.waitMs,
        ),
      ),
    );
  }

  /** Replaces the whole configuration (decisions §2). When `load` throws, everything is undone. */
  async replace(replacement: Replacement): Promise<WithRevision<void>> {
    const replaced = await this.writeLone<undefined>(
      this.timeouts.replacementMs,
      (origin, { leftMs }) =>
        confirmCommit<MadeChange<undefined>>(
          this.database.pool,
          async (beforeCommit) => {
            const { change, transaction } = await replacement.load(origin.author, leftMs);
            const made = {
              type: 'changed',
              result: undefined,
              change,
              profiles: [EVERY_PROFILE],
              ...origin,
            } as const;
            beforeCommit(made, transaction);
            await replacement.commit();
            return made;
          },
          this.waitMs,
        ),
    );
    if (replaced === null) throw new Error('a replacement is always a change');
    return replaced;
  }

  private async writeLone<T>(
    appliedMs: number,
    make: LoneChange<T>,
  ): Promise<WithRevision<T> | null> {
    await this.admit();
    const trace = ChangeTrace.begin(currentSpan());
    const origin = { author: currentAuthor(), trace };
    const deadline = new Deadline(this.waitMs);
    try {
      const committed = await this.queue.run(async () => {
        trace?.beginTransaction(null);
        const made = await make(origin, deadline);
        trace?.endTransaction(made === null ? 0 : 1);
        const applied = made && this.propagate([made], appliedMs);
        return made && applied && { ...made, applied };
      }, deadline);
      if (committed === null) return null;
      const { result, change, applied } = committed;
      return new WithRevision(result, change.revision, await applied);
    } catch (error) {
      trace?.fail();
      throw error;
    }
  }

  /**
   * Starts to publish in order, before the next commit, and waits for the resolvers. Publishing never throws.
   */
  private propagate(committed: readonly TracedChange[], timeoutMs: number): Promise<Applied> {
    return propagateTraced(committed, {
      publish: (changes) => this.propagation.publish(changes),
      wait: () => {
        const changes = committed.map(({ change }) => change);
        return this.propagation.waitApplied(changes, timeoutMs);
      },
    });
  }
}
