import type { PublishedChange } from '@weir/change-feed';
import type { Head } from '@weir/config-model';
import type { ClientBase, QueryConfig } from 'pg';
import type { TransactionMark } from '../platform/database/commit-inquiry.js';

/** The head as a change finds it, locked until its commit. */
export interface LockedHead extends Head {
  readonly catalogueVersion: number | null;
}

interface HeadRow {
  readonly transaction: string;
  readonly began_ms: number;
  readonly lineage: string;
  readonly revision: string;
  readonly digest: string;
  readonly catalogue_version: string | null;
}

const LOCK_HEAD: QueryConfig = {
  name: 'weir_lock_head',
  text: `
    SELECT lineage, revision, digest, catalogue_version,
           pg_current_xact_id()::text AS transaction,
           (extract(epoch FROM now()::timestamptz(3)) * 1000)::float8 AS began_ms,
           set_config('idle_in_transaction_session_timeout', $1, true)
    FROM config_head FOR UPDATE`,
};

/** Longest that a change thinks between two statements; milliseconds, unless the machine is very busy. */
const PAUSE_MS = 10_000;

/**
 * Locks the head until the transaction ends: changes are made one after the other across all replicas.
 * @param pauseMs a holder that asks PostgreSQL nothing for longer has its transaction ended: one that is cut off, or
 * stopped, would otherwise keep every replica waiting for hours, until TCP gives its connection up.
 */
export async function lockHead(
  client: ClientBase,
  pauseMs = PAUSE_MS,
): Promise<{ head: LockedHead; mark: TransactionMark }> {
  const [row] = (await client.query<HeadRow>({ ...LOCK_HEAD, values: [String(pauseMs)] })).rows;
  // An empty answer gives undefined, whatever the type says.
  if ((row as HeadRow | undefined) === undefined) throw new Error('config_head has lost its row');
  return {
    mark: { number: row.transaction, revision: Number(row.revision) + 1, beganMs: row.began_ms },
    head: {
      lineage: row.lineage,
      revision: Number(row.revision),
      digest: row.digest,
      catalogueVersion: toNumber(row.catalogue_version),
    },
  };
}

const LOG_CHANGES = `
  WITH logged AS (
    INSERT INTO change (revision, digest, operations)
    SELECT revision, digest, operations
    FROM jsonb_to_recordset($1::jsonb) AS entry (revision bigint, digest text, operations jsonb)
  )
  UPDATE config_head SET revision = $2::bigint, digest = $3`;

/**
 * Logs changes, at least one, whose revisions follow the head's, and moves the head to the last of them.
 * @returns when that is done. It is sent at once, so that a COMMIT may follow; what cannot be sent is thrown, not a
 * rejection: no COMMIT follows then.
 */
export function logChanges(
  client: ClientBase,
  changes: readonly PublishedChange[],
): Promise<unknown> {
  const last = changes.at(-1);
  const values = [JSON.stringify(changes), last?.revision, last?.digest];
  return client.query({ name: 'weir_log_changes', text: LOG_CHANGES, values });
}

/** A bigint of the database, by whatever driver; every one of ours is a safe integer. */
export function toNumber(value: bigint | string | null): number | null {
  return value === null ? null : Number(value);
}
