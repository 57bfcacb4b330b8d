import { Injectable } from '@nestjs/common';
import type { Applied } from '@weir/change-feed';
import { type EncodedChange, encodeChange } from '@weir/config-model';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient, QueryConfig } from 'pg';
import type { Database } from '../database/database.js';
import { isCommitted } from '../database/commit-inquiry.js';
import { inTransaction } from '../database/in-transaction.js';
import type { Prisma } from '../generated/prisma/client.js';
import { digestAfter, type EntityChange, operationsOf } from './entity-change.js';
import { Revised } from './revised.js';
import { Turns } from './turns.js';

export type Transaction = Prisma.TransactionClient;

/** The head as a change finds it, locked until its commit. */
export interface LockedHead {
  readonly revision: number;
  readonly digest: string;
  readonly catalogueVersion: number | null;
}

/** What a change came to. */
export interface Written<T> {
  readonly result: T;
  readonly changes: readonly EntityChange[];
}

/** The part of the change feed's publisher that writes use. */
export interface Propagation {
  publish(change: EncodedChange): Promise<void>;
  waitApplied(revision: number, timeoutMs: number): Promise<Applied>;
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

/** No setting: the fault suite (docs/fault-suite.md) sets it to kill a replica between a commit and its publication. */
// eslint-disable-next-line no-restricted-properties -- unset wherever Weir serves anybody, so no variable of the schema
const PAUSE_AFTER_COMMIT_MS = Number(process.env['WEIR_TEST_PAUSE_AFTER_COMMIT_MS'] ?? 0);

/**
 * The one way to change the configuration: one transaction that locks the head, does the work, logs the operations and moves the
 * head; then the change is published, and the answer waits for the resolvers.
 */
@Injectable()
export class ConfigurationWriter {
  /** Within this replica, so that those that wait hold no connection; between replicas the head's lock does it. */
  private readonly turns = new Turns(TURN_TIMEOUT_MS);

  constructor(
    private readonly database: Database,
    private readonly propagation: Propagation,
    private readonly timeouts: PropagationTimeouts,
  ) {}

  /**
   * @param work checks and writes inside the transaction. What it throws undoes everything and takes no revision.
   * @returns the result with the revision of the change, when the resolvers have it in force or the time to wait is over.
   */
  async write<T>(
    work: (tx: Transaction, head: LockedHead) => Promise<Written<T>>,
  ): Promise<Revised<T>> {
    return (await this.writeUnless(work)) as Revised<T>;
  }

  /** As `write`, but the work may find that there is nothing to do (null): then nothing is written, and null returned. */
  async writeUnless<T>(
    work: (tx: Transaction, head: LockedHead) => Promise<Written<T> | null>,
  ): Promise<Revised<T> | null> {
    const committed = await this.turns.take(() => this.commit(work));
    if (committed === null) return null;
    const { result, revision } = committed;
    const applied = await this.propagation.waitApplied(revision, this.timeouts.changeMs);
    return new Revised(result, revision, applied);
  }

  /**
   * Replaces the whole configuration (decisions §2). Its rows are too many for Prisma and for a change in the log: they are written
   * through the connection itself, and followers are told to load a snapshot.
   * @param load checks and writes inside the transaction; what it throws undoes everything. @returns the digest of all that stands then.
   */
  async replace(
    load: (client: PoolClient, head: LockedHead) => Promise<string>,
  ): Promise<Revised<void>> {
    const revision = await this.turns.take(() => this.commitReplacement(load));
    const applied = await this.propagation.waitApplied(revision, this.timeouts.replacementMs);
    return new Revised(undefined, revision, applied);
  }

  private async commit<T>(
    work: (tx: Transaction, head: LockedHead) => Promise<Written<T> | null>,
  ): Promise<{ result: T; revision: number } | null> {
    const outcome = await this.settled<{ result: T; change: EncodedChange }>((onLogged) =>
      this.database.writes.use(async (client, tx) => {
        const [, { rows }] = await Promise.all([
          client.query('BEGIN'),
          client.query<HeadRow>(LOCK_HEAD),
        ]);
        const { head, transactionId } = toHead(rows);
        const written = await work(tx, head);
        if (written === null) {
          await client.query('ROLLBACK');
          return null;
        }
        const change = encodeChange({
          revision: head.revision + 1,
          digest: digestAfter(head.digest, written.changes),
          operations: operationsOf(written.changes),
        });
        const logged = onLogged({ result: written.result, change }, transactionId);
        await Promise.all([client.query(logChange(change)), client.query('COMMIT')]);
        return logged;
      }),
    );
    if (outcome === null) return null;
    if (PAUSE_AFTER_COMMIT_MS > 0) await sleep(PAUSE_AFTER_COMMIT_MS);
    this.publish(outcome.change);
    return { result: outcome.result, revision: outcome.change.revision };
  }

  private async commitReplacement(
    load: (client: PoolClient, head: LockedHead) => Promise<string>,
  ): Promise<number> {
    const change = await this.settled<EncodedChange>((onLogged) =>
      inTransaction(this.database, REPLACEMENT_SILENCE_MS, async (client) => {
        const { head, transactionId } = toHead((await client.query<HeadRow>(LOCK_HEAD)).rows);
        const digest = await load(client, head);
        const operations = [{ type: 'reload' } as const];
        const encoded = encodeChange({ revision: head.revision + 1, digest, operations });
        await client.query(logChange(encoded));
        return onLogged(encoded, transactionId);
      }),
    );
    // A replacement always logs.
    if (change === null) throw new Error('the replacement was not logged');
    this.publish(change);
    return change.revision;
  }

  /**
   * Runs a transaction to its end. One that fails after its change was logged may stand all the same: its COMMIT may have got through,
   * and the answer been lost. Then the database is asked.
   * @param run calls `onLogged` last of all in the transaction, and gives what that gives.
   */
  private async settled<O>(
    run: (onLogged: (outcome: O, transactionId: string) => O) => Promise<O | null>,
  ): Promise<O | null> {
    const logged: { outcome: O; transactionId: string }[] = [];
    try {
      return await run((outcome, transactionId) => {
        logged.push({ outcome, transactionId });
        return outcome;
      });
    } catch (error) {
      const [last] = logged;
      if (last === undefined) throw error;
      if (await isCommitted(this.database.pool, last.transactionId)) return last.outcome;
      throw error;
    }
  }

  /** Not waited for: it never fails, and acknowledgements are waited for next. Begun before the next commit, so in order. */
  private publish(change: EncodedChange): void {
    void this.propagation.publish(change);
  }
}

/** A bigint of the database, by whatever driver; every one of ours is a safe integer. */
export function toNumber(value: bigint | string | null): number | null {
  return value === null ? null : Number(value);
}

interface HeadRow {
  /** Of PostgreSQL's transaction. */
  readonly transaction_id: string;
  readonly revision: bigint | string;
  readonly digest: string;
  readonly catalogue_version: bigint | string | null;
}

const LOCK_HEAD: QueryConfig = {
  name: 'weir_lock_head',
  text: `
    SELECT revision, digest, catalogue_version, pg_current_xact_id()::text AS transaction_id
    FROM config_head FOR UPDATE`,
};

function toHead([row]: readonly HeadRow[]): { head: LockedHead; transactionId: string } {
  // An empty answer gives undefined, whatever the type says.
  if ((row as HeadRow | undefined) === undefined) throw new Error('config_head has lost its row');
  return {
    transactionId: row.transaction_id,
    head: {
      revision: Number(row.revision),
      digest: row.digest,
      catalogueVersion: toNumber(row.catalogue_version),
    },
  };
}

const LOG_CHANGE = `
  WITH logged AS (
    INSERT INTO change (revision, digest, operations) VALUES ($1::bigint, $2, $3::jsonb)
  )
  UPDATE config_head SET revision = $1::bigint, digest = $2`;

function logChange({ revision, digest, operations }: EncodedChange): QueryConfig {
  return {
    name: 'weir_log_change',
    text: LOG_CHANGE,
    values: [revision, digest, JSON.stringify(operations)],
  };
}
