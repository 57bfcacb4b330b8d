import { StartError } from '@weir/ops';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { APPLICATION, withConnection, reasonOf } from './connection.js';
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
import { RuntimeRole } from './runtime-role.js';

/** How long a migration waits for a lock, and how often it tries. */
interface LockRetryOptions {
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
async function apply(
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

interface LockOptions extends LockRetryOptions {
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
    const runtimeRole = await RuntimeRole.prepare(client, databaseUrl);
    await client.query(CREATE_LOG);
    const { pending, newer } = compare(await readLog(client), migrations);
    await applyAll(client, pending, lockOptions, log);
    await runtimeRole?.grant();
    const newest = newer.at(-1) ?? migrations.at(-1)?.name;
    log(`the database is up to date: ${newest}${newer.length > 0 ? ', of a newer release' : ''}`);
    return pending.map(({ name }) => name);
  };
  return withConnection(ownerUrl ?? databaseUrl, work, { application: APPLICATION, hint });
}

async function applyAll(
  client: Client,
  pending: readonly Migration[],
  lockOptions: LockRetryOptions,
  log: (line: string) => void,
): Promise<void> {
  for (const [index, migration] of pending.entries()) {
    log(`applying ${migration.name} (${index + 1} of ${pending.length})`);
    const startedMs = performance.now();
    await apply(client, migration, lockOptions, log);
    log(`applied ${migration.name} in ${Math.round(performance.now() - startedMs)} ms`);
  }
}
