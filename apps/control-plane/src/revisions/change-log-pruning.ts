import type { Logger } from '@weir/ops';
import type { Pool, PoolClient } from 'pg';
import type { Job } from '../platform/jobs/job.js';

/** A change stays in the log as long as one of these holds. A follower that is further behind loads a snapshot. */
export const CHANGES_KEPT = 100_000;
export const HOURS_KEPT = 24;

const EVERY_MS = 60_000;
/** Changes deleted by one statement: few enough that the statement is short, even when the changes are large. */
const BATCH = 1_000;

/** Deletes the oldest changes up to the first that must stay, so that the rest has no gap. */
const DELETE_BATCH = `
  WITH oldest AS (
    SELECT revision, created_at FROM change
    WHERE revision <= (SELECT revision FROM config_head) - ${CHANGES_KEPT}
    ORDER BY revision LIMIT ${BATCH}
  )
  DELETE FROM change WHERE revision IN (
    SELECT revision FROM oldest WHERE revision < COALESCE(
      (SELECT min(revision) FROM oldest WHERE created_at > now() - interval '${HOURS_KEPT} hours'),
      (SELECT max(revision) + 1 FROM oldest)))`;

/** The job that limits the size of the change log. */
export function changeLogPruning(pool: Pool, log: Logger): Job {
  return {
    name: 'prune-change-log',
    everyMs: EVERY_MS,
    attempts: 3,
    firstRetryDelayMs: 1_000,
    run: async (signal) => {
      const pruned = await pruneChangeLog(pool, signal);
      if (pruned > 0) log.info({ changes: pruned }, 'change log pruned');
    },
  };
}

/**
 * Deletes, in batches, the changes that are neither among the last `CHANGES_KEPT` nor younger than `HOURS_KEPT`. It
 * locks nothing that a new change needs.
 * @returns the number of deleted changes.
 * @throws the reason of `signal` between two batches.
 */
export async function pruneChangeLog(
  database: Pool | PoolClient,
  signal: AbortSignal,
): Promise<number> {
  let pruned = 0;
  for (;;) {
    signal.throwIfAborted();
    const deleted = (await database.query(DELETE_BATCH)).rowCount ?? 0;
    pruned += deleted;
    if (deleted < BATCH) return pruned;
  }
}
