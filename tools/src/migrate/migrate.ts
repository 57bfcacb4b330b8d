import { StartError } from '@weir/ops';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { reasonOf, withConnection } from './connection.js';
import {
  compare,
  CREATE_LOG,
  logMigration,
  type Migration,
  readLog,
  readMigrations,
  runsInTransaction,
  splitStatements,
} from './migrations.js';
import { prepareRuntimeRole } from './runtime-role.js';

interface LockOptions {
  /**
   * While a statement waits for a lock, other statements on that table queue behind it. So it gives up after this
   * time.
   */
  readonly lockTimeoutMs: number;
  /** Number of attempts. The pause between two attempts is as long as an attempt, so that others can work. */
  readonly lockAttempts: number;
  /** Maximum wait for the end of another run. */
  readonly runWaitMs: number;
}

/**
 * Waits up to four minutes for locks. No other statement is blocked by a waiting migration for longer than two
 * seconds.
 */
export const DEFAULT_LOCK_OPTIONS: LockOptions = {
  lockTimeoutMs: 2_000,
  lockAttempts: 60,
  runWaitMs: 600_000,
};

/** lock_not_available, deadlock_detected: another attempt may succeed. */
const IN_THE_WAY = new Set(['55P03', '40P01']);

/** Applies one migration and records it, in one transaction. @throws StartError with one line. */
async function applyWhole(
  client: Client,
  migration: Migration,
  { lockTimeoutMs, lockAttempts }: LockOptions,
  log: (line: string) => void,
): Promise<void> {
  const { name, sql } = migration;
  for (let attempt = 1; ; attempt++) {
    const startedAt = new Date();
    try {
      await client.query('BEGIN');
      await client.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
      await client.query(sql);
      await logMigration(client, migration, startedAt);
      await client.query('COMMIT');
      return;
    } catch (cause) {
      const reason = reasonOf(cause);
      await client.query('ROLLBACK').catch(() => {
        // The result of the migration is unknown then.
        throw new StartError(
          `the connection broke in migration ${name}; run this again, it goes on from where it stands: ${reason}`,
          { cause },
        );
      });
      const failed = `migration ${name} failed and was undone`;
      const isInTheWay = IN_THE_WAY.has((cause as { code?: string }).code ?? '');
      if (!isInTheWay) throw new StartError(`${failed}: ${reason}`, { cause });
      const noLock = `a table that it changes was in use in each of ${lockAttempts} attempts`;
      if (attempt === lockAttempts) throw new StartError(`${failed}: ${noLock}`, { cause });
      log(
        `attempt ${attempt} of ${lockAttempts}: a table is in use (${reason}), ` +
          `next attempt in ${lockTimeoutMs} ms`,
      );
      await sleep(lockTimeoutMs);
    }
  }
}

/**
 * The same statement by statement, for a file that says so. No other statement queues behind these, so one long attempt
 * replaces all attempts.
 */
async function applyOneByOne(
  client: Client,
  migration: Migration,
  { lockTimeoutMs, lockAttempts }: LockOptions,
): Promise<void> {
  const startedAt = new Date();
  try {
    await client.query(`SET lock_timeout = ${2 * lockTimeoutMs * lockAttempts}`);
    for (const statement of splitStatements(migration.sql)) await client.query(statement);
    await logMigration(client, migration, startedAt);
  } catch (cause) {
    const failed = `migration ${migration.name} failed; the next run begins it anew`;
    throw new StartError(`${failed}: ${reasonOf(cause)}`, { cause });
  }
}

/** The advisory lock that Prisma uses too, so two migrations never run at the same time. */
export const RUN_LOCK_KEY = 72_707_369;

const POLL_MS = 200;

/**
 * Takes the lock until the connection is closed. It polls instead of waiting in the database: a waiting query has a
 * snapshot, and `CREATE INDEX CONCURRENTLY` of the other run would wait for the end of that snapshot.
 * @throws StartError when another run holds the lock for longer than `waitMs`.
 */
async function takeRunLock(
  client: Client,
  waitMs: number,
  log: (line: string) => void,
): Promise<void> {
  const deadlineMs = performance.now() + waitMs;
  const take = `SELECT pg_try_advisory_lock(${RUN_LOCK_KEY}) AS taken`;
  const tryLock = async () => (await client.query<{ taken: boolean }>(take)).rows[0].taken;
  for (let asked = 0; !(await tryLock()); asked++) {
    if (performance.now() > deadlineMs) {
      throw new StartError(
        `another run of migrate has worked on this database for more than ${waitMs / 1000} s`,
      );
    }
    if (asked === 0) log('another run of migrate works on this database: waiting for its end');
    await sleep(POLL_MS);
  }
}

export interface MigrateOptions {
  /** With the role of the control planes. */
  readonly databaseUrl: string;
  /** The same database with the role that owns the tables. Default: `databaseUrl`. */
  readonly ownerUrl?: string | undefined;
  /** Folder with Prisma's layout: `<name>/migration.sql`. Default: the migrations of this release. */
  readonly folder?: string | undefined;
  /** Called with each step. */
  readonly log?: (line: string) => void;
  /** Default: DEFAULT_LOCK_OPTIONS. */
  readonly lockOptions?: Partial<LockOptions>;
}

/**
 * Applies all pending migrations, in order. Each file and its record are one transaction. Several runs may start at
 * the same time: one does the work, and the others then find nothing to do. A database of a newer release that this
 * release can use is not changed. The role of the control planes gets its rights.
 * @returns names of the migrations that were applied.
 * @throws StartError with one line: the database cannot be reached or is too new; a migration was changed, failed
 * or is unknown; or PostgreSQL refused its SQL.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const migrations = await readMigrations(options.folder);
  const log = options.log ?? (() => undefined);
  const lockOptions = { ...DEFAULT_LOCK_OPTIONS, ...options.lockOptions };
  const { databaseUrl, ownerUrl } = options;
  const hint = ownerUrl === undefined ? 'DATABASE_URL' : 'OWNER_DATABASE_URL';
  const work = async (client: Client) => {
    await takeRunLock(client, lockOptions.runWaitMs, log);
    const grantToRuntimeRole = await prepareRuntimeRole(client, databaseUrl);
    await client.query(CREATE_LOG);
    const { pending, newer } = compare(await readLog(client), migrations);
    for (const [index, migration] of pending.entries()) {
      const { name, sql } = migration;
      log(`applying ${name} (${index + 1} of ${pending.length})`);
      const startedMs = performance.now();
      if (runsInTransaction(sql)) await applyWhole(client, migration, lockOptions, log);
      else await applyOneByOne(client, migration, lockOptions);
      log(`applied ${name} in ${Math.round(performance.now() - startedMs)} ms`);
    }
    await grantToRuntimeRole?.();
    const newest = newer.at(-1) ?? migrations.at(-1)?.name;
    log(`the database is up to date: ${newest}${newer.length > 0 ? ', of a newer release' : ''}`);
    return pending.map(({ name }) => name);
  };
  return withConnection(ownerUrl ?? databaseUrl, work, hint);
}
