import { StartError } from '@weir/ops';
import pg from 'pg';
import { type Migration, readMigrations } from './migration-files.js';
import { MigrationLog } from './migration-log.js';

export interface MigrateOptions {
  readonly databaseUrl: string;
  /** Laid out as Prisma's: `<name>/migration.sql`. */
  readonly folder: string;
  /** Told each migration that is applied. */
  readonly log?: (line: string) => void;
}

/** The advisory lock that Prisma takes too: two migrations never run at once. */
const LOCK_KEY = 72_707_369;

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Brings a database up to date: applies what is pending, in order, each file in a transaction of its own together with its note. Any
 * number may run at once; one works and the others find nothing left to do.
 * @returns names of the migrations that were applied.
 * @throws StartError in one line: database out of reach, migration changed, failed or unknown, or its SQL refused.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const migrations = await readMigrations(options.folder);
  const client = await connect(options.databaseUrl);
  try {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK_KEY]);
    const log = await MigrationLog.open(client);
    const pending = log.pending(migrations);
    for (const migration of pending) {
      await apply(client, log, migration);
      options.log?.(`applied ${migration.name}`);
    }
    return pending.map(({ name }) => name);
  } finally {
    // Gives the lock back too.
    await client.end();
  }
}

async function connect(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'weir-migrate',
  });
  // A connection that breaks fails the query under way, which says so.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (cause) {
    throw new StartError(`the database cannot be reached: ${reason(cause)} (DATABASE_URL)`, {
      cause,
    });
  }
  return client;
}

async function apply(client: pg.Client, log: MigrationLog, migration: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(migration.sql);
    await log.add(migration);
    await client.query('COMMIT');
  } catch (cause) {
    await client.query('ROLLBACK');
    throw new StartError(`migration ${migration.name} failed and was undone: ${reason(cause)}`, {
      cause,
    });
  }
}

/** In one line. Several addresses that were tried in vain have a message each, and none in common. */
function reason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reason).join(', ');
  return error instanceof Error ? error.message : String(error);
}
