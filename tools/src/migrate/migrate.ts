import type { Client } from 'pg';
import { apply, type LockPatience } from './apply.js';
import { withConnection } from './connection.js';
import { type Migration, readMigrations } from './migration-files.js';
import { compare, createLog, readLog } from './migration-log.js';
import { takeRunLock } from './run-lock.js';

export interface MigrateOptions {
  readonly databaseUrl: string;
  /** Laid out as Prisma's: `<name>/migration.sql`. */
  readonly folder: string;
  /** Told each step. */
  readonly log?: (line: string) => void;
  /** By default PATIENCE. */
  readonly patience?: Partial<Patience>;
}

export interface Patience extends LockPatience {
  /** Longest that the end of another run is waited for. */
  readonly runWaitMs: number;
}

/** Four minutes for locks in all, in which nobody waits behind a migration for longer than two seconds. */
export const PATIENCE: Patience = { lockTimeoutMs: 2_000, lockAttempts: 60, runWaitMs: 600_000 };

/**
 * Brings a database up to date: applies what is pending, in order, each file in a transaction of its own together
 * with its note. Any number may run at once; one works and the others find nothing left to do. A database of a newer
 * release that this one may work on is left as it is.
 * @returns names of the migrations that were applied.
 * @throws StartError in one line: database out of reach or too new, migration changed, failed or unknown, or its SQL
 * refused.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const migrations = await readMigrations(options.folder);
  const log = options.log ?? (() => undefined);
  const patience = { ...PATIENCE, ...options.patience };
  return withConnection(options.databaseUrl, async (client) => {
    await takeRunLock(client, patience.runWaitMs, log);
    await createLog(client);
    const { pending, newer } = compare(await readLog(client), migrations);
    await applyAll(client, pending, patience, log);
    const newest = newer.at(-1) ?? migrations.at(-1)?.name;
    log(`the database is up to date: ${newest}${newer.length > 0 ? ', of a newer release' : ''}`);
    return pending.map(({ name }) => name);
  });
}

async function applyAll(
  client: Client,
  pending: readonly Migration[],
  patience: LockPatience,
  log: (line: string) => void,
): Promise<void> {
  for (const [index, migration] of pending.entries()) {
    log(`applying ${migration.name} (${index + 1} of ${pending.length})`);
    const startedMs = performance.now();
    await apply(client, migration, patience, log);
    log(`applied ${migration.name} in ${Math.round(performance.now() - startedMs)} ms`);
  }
}
