import { StartError } from '@weir/ops';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';

/** The advisory lock that Prisma uses too, so two migrations never run at the same time. */
export const RUN_LOCK_KEY = 72_707_369;

const POLL_MS = 200;

/**
 * Takes the lock until the connection is closed. It polls instead of waiting in the database: a waiting query has a
 * snapshot, and `CREATE INDEX CONCURRENTLY` of the other run would wait for the end of that snapshot.
 * @throws StartError when another run holds the lock for longer than `waitMs`.
 */
export async function takeRunLock(
  client: Client,
  waitMs: number,
  log: (line: string) => void,
): Promise<void> {
  const deadlineMs = performance.now() + waitMs;
  for (let asked = 0; !(await tryLock(client)); asked++) {
    if (performance.now() > deadlineMs) {
      throw new StartError(
        `another run of migrate has worked on this database for more than ${waitMs / 1000} s`,
      );
    }
    if (asked === 0) log('another run of migrate works on this database: waiting for its end');
    await sleep(POLL_MS);
  }
}

async function tryLock(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(
    'SELECT pg_try_advisory_lock($1) AS taken',
    [RUN_LOCK_KEY],
  );
  return rows[0]?.taken;
}
