import type { Logger } from '@weir/ops';
import type { Pool, PoolClient } from 'pg';
import type { Job } from '../platform/jobs/job-scheduler.js';

/** A change stays in the log as long as one of these holds. A follower that is further behind loads a snapshot. */
export const CHANGES_KEPT = 100_000;
export const HOURS_KEPT = 24;

/** Rows deleted by one statement: few enough that the statement is short, even when the changes are large. */
const BATCH = 1_000;

/**
 * Deletes the oldest changes up to the first that must stay, so that the rest has no gap. A time that is far ahead is
 * that of a wrong clock.
 */
const DELETE_CHANGES = `
  WITH oldest AS (
    SELECT revision, created_at FROM change
    WHERE revision <= (SELECT revision FROM config_head) - ${CHANGES_KEPT}
    ORDER BY revision LIMIT ${BATCH}
  )
  DELETE FROM change WHERE revision IN (
    SELECT revision FROM oldest WHERE revision < COALESCE(
      (SELECT min(revision) FROM oldest
       WHERE created_at BETWEEN now() - interval '${HOURS_KEPT} hours' AND now() + interval '${HOURS_KEPT} hours'),
      (SELECT max(revision) + 1 FROM oldest)))`;

/**
 * The oldest records are those of the lowest revisions, so no index on the time is needed. A time that is ahead is that
 * of a wrong clock: its record is deleted with the next later one that is too old.
 */
const DELETE_RECORDS = `
  WITH oldest AS (
    SELECT revision, created_at FROM change_record WHERE created_at <= now() ORDER BY revision LIMIT ${BATCH}
  ), expired AS (
    SELECT revision, profile_ids FROM change_record
    WHERE revision <= (SELECT max(revision) FROM oldest WHERE created_at < now() - make_interval(days => $1))
      AND created_at NOT BETWEEN now() - make_interval(days => $1) AND now()
    ORDER BY revision LIMIT ${BATCH}
  ), profiles AS (
    DELETE FROM change_record_profile
    WHERE (profile_id, revision) IN (SELECT unnest(profile_ids), revision FROM expired)
  )
  DELETE FROM change_record WHERE revision IN (SELECT revision FROM expired)`;

/** The jobs that limit the size of the change log, and delete the records of changes that are older than `days`. */
export function pruningJobs(pool: Pool, days: number, log: Logger): readonly Job[] {
  return [
    {
      name: 'prune-change-log',
      everyMs: 60_000,
      run: async (signal) => {
        const changes = await pruneChangeLog(pool, signal);
        if (changes > 0) log.info({ changes }, 'change log pruned');
      },
    },
    {
      name: 'prune-change-records',
      everyMs: 60 * 60_000,
      run: async (signal) => {
        const records = await pruneChangeRecords(pool, days, signal);
        if (records > 0) log.info({ records }, 'records of changes pruned');
      },
    },
  ];
}

/** Locks nothing that a new change needs. Returns and throws as `deleteInBatches`. */
export function pruneChangeLog(database: Pool | PoolClient, signal: AbortSignal): Promise<number> {
  return deleteInBatches(database, signal, DELETE_CHANGES);
}

/** Returns and throws as `deleteInBatches`. */
export function pruneChangeRecords(pool: Pool, days: number, signal: AbortSignal): Promise<number> {
  return deleteInBatches(pool, signal, DELETE_RECORDS, [days]);
}

/** @returns the number of deleted rows. @throws the reason of `signal` between two batches. */
async function deleteInBatches(
  database: Pool | PoolClient,
  signal: AbortSignal,
  statement: string,
  values: readonly unknown[] = [],
): Promise<number> {
  let sum = 0;
  for (;;) {
    signal.throwIfAborted();
    const deleted = (await database.query(statement, [...values])).rowCount ?? 0;
    sum += deleted;
    if (deleted < BATCH) return sum;
  }
}
