import { Injectable } from '@nestjs/common';
import type { Applied, Position, PublishedChange } from '@weir/change-feed';
import { encodeChange } from '@weir/config-model';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { settled } from '../platform/database/commit-inquiry.js';
import type { Database } from '../platform/database/database.js';
import { inTransaction } from '../platform/database/in-transaction.js';
import type { Transaction, Work, Written } from './change-attempt.js';
import { type LockedHead, lockHead, logChanges } from './change-log.js';
import { GroupCommit } from './group-commit.js';
import { Revised } from './revised.js';
import { Turns } from './turns.js';

export type { LockedHead, Transaction, Written };

/** The part of the change feed's publisher that writes use. */
export interface Propagation {
  publish(change: PublishedChange): Promise<void>;
  waitApplied(position: Position, timeoutMs: number): Promise<Applied>;
}

/** Longest waits for resolvers to have a change in force. */
export interface PropagationTimeouts {
  readonly changeMs: number;
  /** Of the whole configuration: they load a snapshot. */
  readonly replacementMs: number;
}

/** Longest that a change waits for those before it in this replica. */
const TURN_TIMEOUT_MS = 60_000;

/** One statement of a replacement writes millions of rows. */
const REPLACEMENT_SILENCE_MS = 300_000;
/** A replacement may check millions of rows while it holds the head. */
const REPLACEMENT_PAUSE_MS = 60_000;

/**
 * While rows are copied in PostgreSQL waits for them, whatever time limits it has; a host that is gone is found out by
 * this alone.
 */
const FIND_OUT_WHO_IS_GONE = `
  SET LOCAL tcp_keepalives_idle = 10;
  SET LOCAL tcp_keepalives_interval = 5;
  SET LOCAL tcp_keepalives_count = 4`;

/** No setting: the fault suite (docs/fault-suite.md) sets it to kill a replica between a commit and its publication. */
// eslint-disable-next-line no-restricted-properties -- unset wherever Weir serves anybody, so no variable of the schema
const PAUSE_AFTER_COMMIT_MS = Number(process.env['WEIR_TEST_PAUSE_AFTER_COMMIT_MS'] ?? 0);

/**
 * The one way to change the configuration: one transaction that locks the head, does the work, logs the operations and
 * moves the head; then the change is published, and the answer waits for the resolvers.
 */
@Injectable()
export class ConfigurationWriter {
  /** Within this replica, so that those that wait hold no connection; between replicas the head's lock does it. */
  private readonly turns = new Turns(TURN_TIMEOUT_MS);
  private readonly commits: GroupCommit;

  constructor(
    private readonly database: Database,
    private readonly propagation: Propagation,
    private readonly timeouts: PropagationTimeouts,
  ) {
    this.commits = new GroupCommit(database, this.turns, (changes) => this.publish(changes));
  }

  /**
   * @param work checks and writes inside the transaction. What it throws undoes what it did and takes no revision.
   * @returns the result with the revision of the change, when the resolvers have it in force or the time to wait is
   * over.
   */
  async write<T>(
    work: (tx: Transaction, head: LockedHead) => Promise<Written<T>>,
  ): Promise<Revised<T>> {
    return (await this.writeUnless(work)) as Revised<T>;
  }

  /**
   * As `write`, but the work may find that there is nothing to do (null): then nothing is written, and null returned.
   */
  async writeUnless<T>(work: Work<T>): Promise<Revised<T> | null> {
    const made = await this.commits.make(work);
    switch (made.type) {
      case 'refused':
        throw made.reason;
      case 'unchanged':
        return null;
      case 'changed': {
        const { result, change } = made;
        const applied = await this.propagation.waitApplied(change, this.timeouts.changeMs);
        return new Revised(result, change.revision, applied);
      }
    }
  }

  /**
   * Replaces the whole configuration (decisions §2). Its rows are too many for Prisma and for a change in the log: they
   * are written through the connection itself, and followers are told to load a snapshot.
   * @param load checks and writes inside the transaction; what it throws undoes everything. @returns the digest of all
   * that stands then.
   */
  async replace(
    load: (client: PoolClient, head: LockedHead) => Promise<string>,
  ): Promise<Revised<void>> {
    const change = await this.turns.take(() => this.commitReplacement(load));
    const applied = await this.propagation.waitApplied(change, this.timeouts.replacementMs);
    return new Revised(undefined, change.revision, applied);
  }

  private async commitReplacement(
    load: (client: PoolClient, head: LockedHead) => Promise<string>,
  ): Promise<PublishedChange> {
    const change = await settled<PublishedChange>(this.database.pool, (committing) =>
      inTransaction(this.database, REPLACEMENT_SILENCE_MS, async (client) => {
        await client.query(FIND_OUT_WHO_IS_GONE);
        const { head, mark } = await lockHead(client, REPLACEMENT_PAUSE_MS);
        const digest = await load(client, head);
        const operations = [{ type: 'reload' } as const];
        const encoded = encodeChange({ revision: head.revision + 1, digest, operations });
        const published = { lineage: head.lineage, ...encoded };
        await logChanges(client, [published]);
        committing(published, mark);
        return published;
      }),
    );
    await this.publish([change]);
    return change;
  }

  /**
   * Begins to publish, before the next commit, so in order. Acknowledgements are waited for elsewhere, and a
   * publication never fails.
   */
  private async publish(changes: readonly PublishedChange[]): Promise<void> {
    if (changes.length > 0 && PAUSE_AFTER_COMMIT_MS > 0) await sleep(PAUSE_AFTER_COMMIT_MS);
    for (const change of changes) void this.propagation.publish(change);
  }
}
