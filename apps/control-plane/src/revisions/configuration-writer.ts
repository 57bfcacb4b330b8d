import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { confirmCommit, type TransactionIdentity } from '../platform/database/commit-outcome.js';
import type { Database } from '../platform/database/database.js';
import { lockHead, logChanges, WAIT_MS } from './change-log.js';
import {
  type Author,
  changed,
  type ChangeOrigin,
  currentOrigin,
  EVERY_PROFILE,
  type MadeChange,
  type WorkResult,
} from './change-record.js';
import { GroupCommit, LIMITS, resultOf } from './group-commit.js';
import type { Propagation } from './propagation.js';
import type { WithRevision } from './with-revision.js';
import type { SubmittedChange } from './working-tables.js';
import { Deadline, WriteQueue } from './write-queue.js';

/** A transaction that replaces the whole configuration. */
export interface Replacement {
  /**
   * Locks the head, writes, and logs the change with its author.
   * @param waitMs longest wait for the head.
   * @throws InvalidRequestError when another catalogue came in force meanwhile, to which it does not fit; the error of
   *   PostgreSQL
   */
  load(
    author: Author,
    waitMs: number,
  ): Promise<{ readonly change: MadeChange['change']; readonly transaction: TransactionIdentity }>;
  commit(): Promise<void>;
}

/** Longest times to wait for a change: until the resolvers have applied it, and for those before it. */
export interface ChangeTimeouts {
  readonly changeMs: number;
  /** For a replacement of the whole configuration: the resolvers load a snapshot. */
  readonly replacementMs: number;
  /** Longest time that a change waits for the changes before it in all, those of other replicas included. */
  readonly waitMs?: number;
}

/**
 * Makes every change of the configuration. One transaction locks the head, does the work, logs the operations with a
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
    private readonly propagation: Pick<Propagation, 'propagate'>,
    private readonly timeouts: ChangeTimeouts,
    /** Throws when this process must not change the database. It is called before each change. */
    private readonly admit: () => Promise<void> = () => Promise.resolve(),
  ) {
    this.waitMs = timeouts.waitMs ?? WAIT_MS;
    this.commits = new GroupCommit(
      database,
      this.queue,
      (committed) => propagation.propagate(committed, timeouts.changeMs),
      { ...LIMITS, waitMs: this.waitMs },
    );
  }

  /**
   * Makes a change together with those that wait. When it throws, nothing is changed and no revision is taken.
   * @returns the result with the revision of the change, when the resolvers have applied it or the timeout is over.
   */
  async write<T>(change: SubmittedChange<T>): Promise<WithRevision<T>> {
    await this.admit();
    return this.commits.submit(change, currentOrigin());
  }

  /**
   * Makes a change in a transaction of its own.
   * @param work checks and writes. When it throws, everything is undone. Null: there is nothing to do.
   * @returns null when there was nothing to do.
   */
  writeAlone<T>(
    work: (client: PoolClient) => Promise<WorkResult<T> | null>,
  ): Promise<WithRevision<T> | null> {
    const { database } = this;
    return this.writeLone(this.timeouts.changeMs, (origin, deadline) =>
      database.write((client) =>
        confirmCommit<MadeChange<T> | null>(
          database.pool,
          async (beforeCommit) => {
            await client.query('BEGIN');
            const { head, transaction } = await lockHead(client, { deadline });
            const done = await work(client);
            const made = done && changed(head, done, origin);
            if (made !== null) {
              await logChanges(client, [made]);
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
            const made = { result: undefined, change, profiles: [EVERY_PROFILE], ...origin };
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

  /** @param make makes a change in a transaction of its own; null: there was nothing to do. */
  private async writeLone<T>(
    appliedMs: number,
    make: (origin: ChangeOrigin, deadline: Deadline) => Promise<MadeChange<T> | null>,
  ): Promise<WithRevision<T> | null> {
    await this.admit();
    const origin = currentOrigin();
    const { trace } = origin;
    const deadline = new Deadline(this.waitMs);
    try {
      const done = await this.queue.run(async () => {
        trace?.beginTransaction(null);
        const made = await make(origin, deadline);
        trace?.endTransaction(made === null ? 0 : 1);
        return made && { made, applied: this.propagation.propagate([made], appliedMs) };
      }, deadline);
      return done && (await resultOf(done.made, done.applied));
    } catch (error) {
      trace?.fail();
      throw error;
    }
  }
}
