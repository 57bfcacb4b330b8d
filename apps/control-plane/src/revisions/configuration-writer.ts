import { Injectable } from '@nestjs/common';
import type { Applied, Position, PublishedChange } from '@weir/change-feed';
import { encodeChange, type Operation } from '@weir/config-model';
import type { PoolClient } from 'pg';
import { confirmCommit, type TransactionIdentity } from '../platform/database/commit-outcome.js';
import type { Database } from '../platform/database/database.js';
import type { Transaction } from '../platform/database/transaction.js';
import { withConnection } from '../platform/database/with-connection.js';
import { type Author, currentAuthor, currentSpan } from './author.js';
import { type LockedHead, lockHead, logChanges, toLogEntries, WAIT_MS } from './change-log.js';
import { changed, type MadeChange, type WorkResult } from './change-outcome.js';
import { ALL_PROFILES } from './change-record.js';
import { ChangeTrace, type CommittedChange, propagateTraced } from './change-trace.js';
import { Deadline } from './deadline.js';
import { GroupCommit, LIMITS } from './group-commit.js';
import type { GroupedChange } from './grouped-change.js';
import { WithRevision } from './with-revision.js';
import { WriteQueue } from './write-queue.js';

export type { LockedHead, Transaction };

/** What the writer needs of the publisher of the change feed. */
export interface Propagation {
  /** @param changes committed together, in order; at least one. */
  publish(changes: readonly PublishedChange[]): Promise<void>;
  /** Waits until the last of them is in force on every live resolver, at most `timeoutMs`. */
  waitApplied(changes: readonly Position[], timeoutMs: number): Promise<Applied>;
}

/** What a replacement of the whole configuration leads to. */
export interface Replacement {
  readonly digest: string;
  /** What followers apply: the difference, or `reload` when it is large. */
  readonly operations: readonly Operation[];
}

/** Longest times to wait for a change: until the resolvers have applied it, and for those before it. */
export interface ChangeTimeouts {
  readonly changeMs: number;
  /** For a replacement of the whole configuration: the resolvers load a snapshot. */
  readonly replacementMs: number;
  /** Longest time that a change waits for the changes before it in all, those of other replicas included. */
  readonly waitMs?: number;
}

/** A change that is made in a transaction of its own. */
interface LoneChange<T> {
  /** Returns null when there is nothing to do. */
  readonly make: (client: PoolClient, head: LockedHead) => Promise<MadeChange<T> | null>;
  /** Longest time to wait for the resolvers. */
  readonly appliedMs: number;
}

type CommittedAlone<T> = MadeChange<T> & { readonly applied: Promise<Applied> };

/** One statement of a replacement writes millions of rows. */
const LONE_IDLE_TIMEOUT_MS = 300_000;
/** A replacement may check millions of rows between two statements. */
const LONE_IDLE_IN_TRANSACTION_MS = 60_000;

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
    const onCommitted = (committed: readonly CommittedChange[]): Promise<Applied> =>
      this.propagate(committed, timeouts.changeMs);
    const limits = { ...LIMITS, waitMs: this.waitMs };
    this.commits = new GroupCommit(database, this.queue, onCommitted, limits);
  }

  /**
   * Makes a change together with those that wait. When it throws, nothing is changed and no revision is taken.
   * @returns the result with the revision of the change, when the resolvers have applied it or the timeout is over.
   */
  async write<T>(change: GroupedChange<T>): Promise<WithRevision<T>> {
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
    return this.writeLone({
      make: async (client, head) => {
        const done = await work(client);
        return done && changed(head, done);
      },
      appliedMs: this.timeouts.changeMs,
    });
  }

  /**
   * Replaces the whole configuration (decisions §2). Its rows are too many for one change of the log.
   * @param load checks and writes inside the transaction. When it throws, everything is undone.
   */
  async replace(
    load: (client: PoolClient, head: LockedHead) => Promise<Replacement>,
  ): Promise<WithRevision<void>> {
    const replaced = await this.writeLone<undefined>({
      make: async (client, head) => {
        const { digest, operations } = await load(client, head);
        const encoded = encodeChange({ revision: head.revision + 1, digest, operations });
        const change = { lineage: head.lineage, ...encoded };
        return { type: 'changed', result: undefined, change, profiles: ALL_PROFILES };
      },
      appliedMs: this.timeouts.replacementMs,
    });
    if (replaced === null) throw new Error('a replacement is always a change');
    return replaced;
  }

  private async writeLone<T>(lone: LoneChange<T>): Promise<WithRevision<T> | null> {
    await this.admit();
    const author = currentAuthor();
    const trace = ChangeTrace.begin(currentSpan());
    try {
      const deadline = new Deadline(this.waitMs);
      const committed = await this.queue.run(
        () => this.makeLone(lone, deadline, author, trace),
        deadline,
      );
      if (committed === null) return null;
      const { result, change, applied } = committed;
      return new WithRevision(result, change.revision, await applied);
    } catch (error) {
      trace?.fail();
      throw error;
    }
  }

  private makeLone<T>(
    lone: LoneChange<T>,
    deadline: Deadline,
    author: Author,
    trace: ChangeTrace | null,
  ): Promise<CommittedAlone<T> | null> {
    trace?.beginTransaction(null);
    const { pool, silence, silenceTimeoutMs } = this.database;
    return withConnection(pool, async (client) => {
      silence.watch(client, LONE_IDLE_TIMEOUT_MS);
      try {
        await client.query('BEGIN');
        const made = await this.commitLone(client, lone, deadline, author);
        trace?.endTransaction(made === null ? 0 : 1);
        const applied = made && this.propagate([{ change: made.change, trace }], lone.appliedMs);
        return made && applied && { ...made, applied };
      } finally {
        silence.watch(client, silenceTimeoutMs);
      }
    });
  }

  private commitLone<T>(
    client: PoolClient,
    { make }: LoneChange<T>,
    deadline: Deadline,
    author: Author,
  ): Promise<MadeChange<T> | null> {
    const commit = async (
      beforeCommit: (made: MadeChange<T>, transaction: TransactionIdentity) => void,
    ): Promise<MadeChange<T> | null> => {
      const idleInTransactionMs = LONE_IDLE_IN_TRANSACTION_MS;
      const { head, transaction } = await lockHead(client, { deadline, idleInTransactionMs });
      const made = await make(client, head);
      if (made !== null) {
        await logChanges(client, await toLogEntries([{ ...made, author }]));
        beforeCommit(made, transaction);
      }
      await client.query('COMMIT');
      return made;
    };
    return confirmCommit<MadeChange<T> | null>(this.database.pool, commit, this.waitMs);
  }

  /**
   * Starts to publish in order, before the next commit, and waits for the resolvers. Publishing never throws.
   */
  private propagate(committed: readonly CommittedChange[], timeoutMs: number): Promise<Applied> {
    return propagateTraced(committed, {
      publish: (changes) => this.propagation.publish(changes),
      wait: () => {
        const changes = committed.map(({ change }) => change);
        return this.propagation.waitApplied(changes, timeoutMs);
      },
    });
  }
}
