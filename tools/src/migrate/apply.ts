import { StartError } from '@weir/ops';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { reasonOf } from './connection.js';
import { type Migration, runsInTransaction, splitStatements } from './migration-files.js';
import { logMigration } from './migration-log.js';

/** How long a migration waits for a lock, and how often it tries. */
export interface LockRetryOptions {
  /**
   * While a statement waits for a lock, other statements on that table queue behind it. So it gives up after this
   * time.
   */
  readonly lockTimeoutMs: number;
  /** Number of attempts. The pause between two attempts is as long as an attempt, so that others can work. */
  readonly lockAttempts: number;
}

/** lock_not_available, deadlock_detected: another attempt may succeed. */
const IN_THE_WAY = new Set(['55P03', '40P01']);

/**
 * Applies one migration and records it: in one transaction, or statement by statement if the file says so.
 * @throws StartError with one line.
 */
export async function apply(
  client: Client,
  migration: Migration,
  lockOptions: LockRetryOptions,
  log: (line: string) => void,
): Promise<void> {
  if (!runsInTransaction(migration.sql)) {
    await applyOneByOne(client, migration, lockOptions);
    return;
  }
  const { lockTimeoutMs, lockAttempts } = lockOptions;
  for (let attempt = 1; ; attempt++) {
    try {
      await applyWhole(client, migration, lockTimeoutMs);
      return;
    } catch (cause) {
      await undo(client, migration, cause);
      const failed = `migration ${migration.name} failed and was undone`;
      const isInTheWay = IN_THE_WAY.has((cause as { code?: string }).code ?? '');
      if (!isInTheWay) throw new StartError(`${failed}: ${reasonOf(cause)}`, { cause });
      const noLock = `a table that it changes was in use in each of ${lockAttempts} attempts`;
      if (attempt === lockAttempts) throw new StartError(`${failed}: ${noLock}`, { cause });
      log(
        `attempt ${attempt} of ${lockAttempts}: a table is in use (${reasonOf(cause)}), ` +
          `next attempt in ${lockTimeoutMs} ms`,
      );
      await sleep(lockTimeoutMs);
    }
  }
}

async function applyWhole(
  client: Client,
  migration: Migration,
  lockTimeoutMs: number,
): Promise<void> {
  const startedAt = new Date();
  await client.query('BEGIN');
  await client.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
  await client.query(migration.sql);
  await logMigration(client, migration, startedAt);
  await client.query('COMMIT');
}

/** @throws StartError when the connection broke, because the result of the migration is unknown then. */
async function undo(client: Client, { name }: Migration, cause: unknown): Promise<void> {
  try {
    await client.query('ROLLBACK');
  } catch {
    throw new StartError(
      `the connection broke in migration ${name}; run this again, it goes on from where it stands: ${reasonOf(cause)}`,
      { cause },
    );
  }
}

/** No other statement queues behind these, so one long attempt replaces all attempts. */
async function applyOneByOne(
  client: Client,
  migration: Migration,
  { lockTimeoutMs, lockAttempts }: LockRetryOptions,
): Promise<void> {
  const startedAt = new Date();
  try {
    await client.query(`SET lock_timeout = ${2 * lockTimeoutMs * lockAttempts}`);
    for (const statement of splitStatements(migration.sql)) await client.query(statement);
    await logMigration(client, migration, startedAt);
  } catch (cause) {
    throw new StartError(
      `migration ${migration.name} failed; the next run begins it anew: ${reasonOf(cause)}`,
      { cause },
    );
  }
}
