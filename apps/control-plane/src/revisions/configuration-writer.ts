import { Injectable } from '@nestjs/common';
import type { Applied, Position, PublishedChange } from '@weir/change-feed';
import { encodeChange, type Operation } from '@weir/config-model';
import type { PoolClient } from 'pg';
import { confirmCommit } from '../platform/database/commit-outcome.js';
import type { Database } from '../platform/database/database.js';
import { inTransaction } from '../platform/database/in-transaction.js';
import type { Transaction } from '../platform/database/transaction.js';
import { type Author, currentAuthor, currentSpan } from './author.js';
import { type LockedHead, lockHead, logChanges, toLogEntries, WAIT_MS } from './change-log.js';
import { changed, type MadeChange, type WorkResult } from './change-outcome.js';
import { ALL_PROFILES } from './change-record.js';
import { ChangeTrace, type CommittedChange, propagateTraced } from './change-trace.js';
import { GroupCommit, LIMITS } from './group-commit.js';
import type { GroupedChange } from './grouped-change.js';
import { KeptOperations } from './kept-operations.js';
import { isLarge, LARGE_ITEMS, LargeChanges } from './large-changes.js';
import { lockAllParts } from './parts.js';
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
  /** Longest time that a change waits for the changes before it, of this replica and then of the others. */
  readonly waitMs?: number;
}

export interface WriterOptions {
  /** Throws when this process must not change the database. It is called before each change. */
  readonly admit?: () => Promise<void>;
  /** Gets the operations of large changes. */
  readonly keptOperations?: KeptOperations;
  /** See `LARGE_ITEMS`. */
  readonly largeItems?: number | undefined;
}

type Run = <T>(task: () => Promise<T>) => Promise<T>;

/** How a change is made in a transaction of its own. */
interface LoneOptions {
  /** Runs it when it is its turn. */
  readonly run: Run;
  /** What is done before the head is locked. */
  readonly begin?: (client: PoolClient) => Promise<void>;
  /** Longest time to wait for the resolvers. */
  readonly appliedMs: number;
}

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
  private readonly queue: WriteQueue;
  /** Orders what takes long: large changes, which wait in the other queue only at their end, and replacements. */
  private readonly longQueue: WriteQueue;
  private readonly commits: GroupCommit;
  private readonly largeChanges: LargeChanges;
  private readonly waitMs: number;
  private readonly admit: () => Promise<void>;

  constructor(
    private readonly database: Database,
    private readonly propagation: Propagation,
    private readonly timeouts: ChangeTimeouts,
    private readonly options: WriterOptions = {},
  ) {
    this.admit = options.admit ?? (() => Promise.resolve());
    this.waitMs = timeouts.waitMs ?? WAIT_MS;
    this.queue = new WriteQueue(this.waitMs);
    this.longQueue = new WriteQueue(this.waitMs);
    const { queue, longQueue, waitMs } = this;
    const { keptOperations = new KeptOperations() } = options;
    const onCommitted = (committed: readonly CommittedChange[]): Promise<Applied> =>
      this.propagate(committed, timeouts.changeMs);
    this.commits = new GroupCommit(database, queue, onCommitted, { ...LIMITS, waitMs });
    const shared = { queue, longQueue, waitMs, keptOperations, onCommitted };
    this.largeChanges = new LargeChanges(database, shared);
  }

  /**
   * Makes a change together with those that wait, or beside them if it is large. When it throws, nothing is changed and
   * no revision is taken.
   * @returns the result with the revision of the change, when the resolvers have applied it or the timeout is over.
   */
  async write<T>(change: GroupedChange<T>): Promise<WithRevision<T>> {
    await this.admit();
    const [author, span] = [currentAuthor(), currentSpan()];
    const { outcome, applied } = isLarge(change, this.options.largeItems ?? LARGE_ITEMS)
      ? await this.largeChanges.make(change, author, span)
      : await this.commits.submit(change, author, span);
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
    const run: Run = (task) => this.queue.run(task);
    return this.commitAlone({ run, appliedMs: this.timeouts.changeMs }, async (client, head) => {
      const done = await work(client);
      return done && changed(head, done);
    });
  }

  /**
   * Replaces the whole configuration (decisions §2). Its rows are too many for one change of the log. It waits for
   * large changes before it locks the head, and later ones wait for it.
   * @param load checks and writes inside the transaction. When it throws, everything is undone.
   */
  async replace(
    load: (client: PoolClient, head: LockedHead) => Promise<Replacement>,
  ): Promise<WithRevision<void>> {
    // Large changes of this replica need the queue at their end.
    const run: Run = (task) => this.longQueue.run(() => this.queue.run(task));
    const begin = (client: PoolClient): Promise<void> => lockAllParts(client, this.waitMs);
    const replaced = await this.commitAlone<undefined>(
      { run, begin, appliedMs: this.timeouts.replacementMs },
      async (client, head) => {
        const { digest, operations } = await load(client, head);
        const encoded = encodeChange({ revision: head.revision + 1, digest, operations });
        const change = { lineage: head.lineage, ...encoded };
        return { type: 'changed', result: undefined, change, profiles: ALL_PROFILES };
      },
    );
    if (replaced === null) throw new Error('a replacement is always a change');
    return replaced;
  }

  /** @param make returns null when there is nothing to do. */
  private async commitAlone<T>(
    { run, begin, appliedMs }: LoneOptions,
    make: (client: PoolClient, head: LockedHead) => Promise<MadeChange<T> | null>,
  ): Promise<WithRevision<T> | null> {
    await this.admit();
    const author = currentAuthor();
    const trace = ChangeTrace.begin(currentSpan());
    try {
      const committed = await run(async () => {
        trace?.beginTransaction(null);
        const made = await this.tryAlone(author, make, begin);
        trace?.endTransaction(made === null ? 0 : 1);
        const applied = made && this.propagate([{ change: made.change, trace }], appliedMs);
        return made && { ...made, applied };
      });
      if (committed === null) return null;
      const { result, change, applied } = committed;
      return new WithRevision(result, change.revision, await applied);
    } catch (error) {
      trace?.fail();
      throw error;
    }
  }

  private tryAlone<T>(
    author: Author,
    make: (client: PoolClient, head: LockedHead) => Promise<MadeChange<T> | null>,
    begin: LoneOptions['begin'],
  ): Promise<MadeChange<T> | null> {
    return confirmCommit<MadeChange<T> | null>(this.database.pool, (beforeCommit) =>
      inTransaction(this.database, LONE_IDLE_TIMEOUT_MS, async (client) => {
        await begin?.(client);
        const { head, transaction } = await lockHead(client, {
          ...this.timeouts,
          idleInTransactionMs: LONE_IDLE_IN_TRANSACTION_MS,
        });
        const made = await make(client, head);
        if (made === null) return null;
        await logChanges(client, await toLogEntries([{ ...made, author }]));
        beforeCommit(made, transaction);
        return made;
      }),
    );
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
