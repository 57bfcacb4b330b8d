import type { Head } from '@weir/config-model';
import type { ClientBase, QueryConfig } from 'pg';
import type { TransactionIdentity } from '../platform/database/commit-outcome.js';
import { headOf } from '../platform/database/snapshot.js';
import { type MadeChange, toRecord } from './change-record.js';
import { Deadline } from './write-queue.js';

/** The head that a change starts from, locked until its transaction ends. */
export interface LockedHead extends Head {
  readonly catalogueVersion: number | null;
}

const LOCK_HEAD: QueryConfig = {
  name: 'weir_lock_head',
  // The wait has an end (`55P03`), unless the operator has set an earlier one. It is set before the row is locked.
  text: `
    WITH wait AS MATERIALIZED (
      SELECT set_config('lock_timeout', $2, true)
      WHERE current_setting('lock_timeout') = '0' OR current_setting('lock_timeout')::interval > $2::interval
    ), waited AS MATERIALIZED (SELECT count(*) FROM wait)
    SELECT lineage, revision::float8, digest, catalogue_version::float8 AS "catalogueVersion",
           pg_current_xact_id()::text AS id,
           (extract(epoch FROM now()::timestamptz(3)) * 1000)::float8 AS "beganMs",
           set_config('idle_in_transaction_session_timeout', $1, true)
    FROM waited, config_head FOR UPDATE OF config_head`,
};

interface LockTimes {
  /** To wait for the changes of other replicas. */
  readonly deadline?: Deadline;
  /**
   * Between two statements. PostgreSQL ends the transaction when the client sends nothing for longer (`25P03`).
   * Otherwise a replica that is stopped or cut off would block all others for hours, until TCP gives up its connection.
   */
  readonly idleInTransactionMs?: number;
}

/** Longest wait for other changes. It is less than the time after which a silent query counts as lost. */
export const WAIT_MS = 20_000;
/** Longest time between two statements of a change. It is milliseconds, unless the machine is very busy. */
const IDLE_IN_TRANSACTION_MS = 5_000;

/**
 * Locks the head until the transaction ends: all replicas make their changes one after the other.
 * @throws the error of PostgreSQL (`55P03`) when the changes of other replicas take too long.
 */
export async function lockHead(
  client: ClientBase,
  {
    deadline = new Deadline(WAIT_MS),
    idleInTransactionMs = IDLE_IN_TRANSACTION_MS,
  }: LockTimes = {},
): Promise<{ head: LockedHead; transaction: TransactionIdentity }> {
  const { rows } = await client.query<LockedHead & TransactionIdentity>({
    ...LOCK_HEAD,
    values: [String(idleInTransactionMs), `${deadline.leftMs}ms`],
  });
  const { lineage, revision, digest, catalogueVersion, id, beganMs } = headOf(rows);
  const head = { lineage, revision, digest, catalogueVersion };
  return { head, transaction: { id, revision: revision + 1, beganMs } };
}

const LOG_CHANGES = `
  WITH logged AS (
    INSERT INTO change (revision, digest, operations)
    SELECT revision, digest, operations
    FROM jsonb_to_recordset($1::jsonb) AS entry (revision bigint, digest text, operations jsonb)
  ), recorded AS (
    INSERT INTO change_record
      (revision, origin, token, source, request_id, method, route, keys, key_count, profile_ids)
    SELECT revision, origin, token, source, request_id, method, route, keys, key_count, profile_ids
    FROM jsonb_to_recordset($4::jsonb) AS entry (
      revision bigint, origin text, token text, source inet, request_id text, method text, route text,
      keys jsonb, key_count integer, profile_ids integer[])
    RETURNING revision, token, profile_ids
  ), concerned AS (
    INSERT INTO change_record_profile (profile_id, revision, token)
    SELECT unnest(profile_ids), revision, token FROM recorded
  )
  UPDATE config_head SET revision = $2::bigint, digest = $3`;

/**
 * Logs changes with their records, and moves the head to the last of them. Their revisions must follow the head's.
 * @param changes at least one.
 * @returns when PostgreSQL has done it. The statement is sent before this returns, so a COMMIT may be sent right after.
 * @throws synchronously when the statement cannot be sent, so that no COMMIT is sent.
 */
export function logChanges(client: ClientBase, changes: readonly MadeChange[]): Promise<unknown> {
  const last = changes.at(-1)?.change;
  const entries = JSON.stringify(changes.map(({ change }) => change));
  const records = JSON.stringify(changes.map(toRecord));
  const values = [entries, last?.revision, last?.digest, records];
  return client.query({ name: 'weir_log_changes', text: LOG_CHANGES, values });
}
