import type { Logger } from '@weir/ops';
import type { Pool } from 'pg';
import type { Job } from '../platform/jobs/job.js';

const EVERY_MS = 60 * 60_000;
/** Records deleted by one statement. */
const BATCH = 1_000;

/** The oldest records are those of the lowest revisions, so no index on the time is needed. */
const DELETE_BATCH = `
  WITH oldest AS (
    SELECT revision, created_at, profile_ids FROM change_record ORDER BY revision LIMIT ${BATCH}
  ), expired AS (
    SELECT * FROM oldest WHERE created_at < now() - make_interval(days => $1)
  ), profiles AS (
    DELETE FROM change_record_profile
    WHERE (profile_id, revision) IN (SELECT unnest(profile_ids), revision FROM expired)
  )
  DELETE FROM change_record WHERE revision IN (SELECT revision FROM expired)`;

/** The job that deletes the records of changes that are older than `days`. */
export function changeRecordPruning(pool: Pool, days: number, log: Logger): Job {
  return {
    name: 'prune-change-records',
    everyMs: EVERY_MS,
    attempts: 3,
    firstRetryDelayMs: 1_000,
    run: async (signal) => {
      const pruned = await pruneChangeRecords(pool, days, signal);
      if (pruned > 0) log.info({ records: pruned }, 'records of changes pruned');
    },
  };
}

/**
 * Deletes the records that are older than `days`, in batches.
 * @returns the number of deleted records.
 * @throws the reason of `signal` between two batches.
 */
export async function pruneChangeRecords(
  pool: Pool,
  days: number,
  signal: AbortSignal,
): Promise<number> {
  let pruned = 0;
  for (;;) {
    signal.throwIfAborted();
    const deleted = (await pool.query(DELETE_BATCH, [days])).rowCount ?? 0;
    pruned += deleted;
    if (deleted < BATCH) return pruned;
  }
}
