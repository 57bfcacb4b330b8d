import type { Logger } from '@weir/ops';
import type { Pool, PoolClient } from 'pg';
import type { Job } from '../platform/jobs/job.js';

/** A change stays in the log as long as either holds; a follower that is further behind loads a snapshot. */
export const CHANGES_KEPT = 100_000;
export const HOURS_KEPT = 24;

const EVERY_MS = 60_000;
/** Changes deleted by one statement: few enough that it is over in a moment, even where each is large. */
const BATCH = 1_000;

/** Deletes the oldest changes, up to the first that is to stay: what is left has no gap. */
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

/** The job that keeps the change log from growing for ever. */
export function changeLogPruning(pool: Pool, log: Logger): Job {
  return {
    name: 'prune-change-log',
    everyMs: EVERY_MS,
    attempts: 3,
    firstPauseMs: 1_000,
    run: async (signal) => {
      const pruned = await pruneChangeLog(pool, signal);
      if (pruned > 0) log.info({ changes: pruned }, 'change log pruned');
    },
  };
}

/**
 * Deletes, a batch at a time, the changes that are among neither the last `CHANGES_KEPT` nor those of the last
 * `HOURS_KEPT`. Locks nothing that a new change needs.
 * @returns how many. @throws the signal's reason between two batches.
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
