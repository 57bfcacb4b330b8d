import { StartError } from '@weir/ops';
import type { Client } from 'pg';
import { migrate } from '../migrate/migrate.js';
import { readMigrations } from '../migrate/migration-files.js';
import { BackupReader } from './backup-reader.js';
import { withClient } from './database.js';
import { toStartError } from './start-error.js';
import type { Manifest } from './manifest.js';
import { migrationsOf } from './schema-version.js';
import { dropStaging, stage } from './staging.js';
import { swapIn } from './swap.js';
import { HEAD_TABLE, readAppliedMigrations } from './tables.js';

export interface RestoreOptions {
  readonly databaseUrl: string;
  readonly file: string;
  /** Whether the configuration in the database may be overwritten. */
  readonly replace: boolean;
  /** The migrations of this release. */
  readonly folder: string;
  /** Called with each step. */
  readonly log: (line: string) => void;
  /** Aborts between two steps; its reason is thrown. */
  readonly signal: AbortSignal;
}

/** Only one restore may run at a time. */
const RESTORE_LOCK_KEY = 72_707_370;

/**
 * Replaces the contents of a database by a backup. The backup is first loaded into a separate schema; one
 * transaction then replaces the live rows. If anything fails, the database is unchanged. Control planes, resolvers
 * and block pages may run during a restore.
 * @throws StartError with one line.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Manifest> {
  const { databaseUrl, file, folder, log, signal } = options;
  const known = await readMigrations(folder);
  let outcome = 'nothing was restored';
  try {
    const backup = await BackupReader.open(file, log);
    const { manifest } = backup;
    const migrations = migrationsOf('the backup', manifest.migrations, known);
    log(`restoring revision ${manifest.revision}, backed up at ${manifest.madeAt}`);
    await withClient(databaseUrl, async (client) => {
      await takeLock(client);
      const check = (): Promise<void> => expectReplaceable(client, options, manifest);
      if (await hasSchema(client)) {
        migrationsOf('the database', await readAppliedMigrations(client), known);
        await check();
      }
      await migrate({ databaseUrl, folder, log });
      try {
        await stage({ client, databaseUrl, backup, migrations, known, signal });
        signal.throwIfAborted();
        log('putting it in force');
        await client.query('BEGIN');
        await swapIn(client, check);
        outcome = 'it is not known whether it was restored';
        await client.query('COMMIT');
        outcome = 'it was restored, but not all is tidied up';
      } finally {
        await tidyUp(client);
      }
      await client.query('ANALYZE');
    });
    return manifest;
  } catch (error) {
    signal.throwIfAborted();
    throw toStartError(`${file}: ${outcome}`, error);
  }
}

async function takeLock(client: Client): Promise<void> {
  const { rows } = await client.query<{ taken: boolean }>(
    'SELECT pg_try_advisory_lock($1) AS taken',
    [RESTORE_LOCK_KEY],
  );
  if (!rows[0].taken) throw new StartError('another restore works on this database');
}

async function hasSchema(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ there: boolean }>(
    'SELECT to_regclass($1) IS NOT NULL AS there',
    [HEAD_TABLE],
  );
  return rows[0].there;
}

/** @throws StartError when the database must not be overwritten, or its processes hash domains with another key. */
async function expectReplaceable(
  client: Client,
  { replace }: RestoreOptions,
  { domainHashCheck }: Manifest,
): Promise<void> {
  const { rows } = await client.query<{ isEmpty: boolean; hashCheck: string | null }>(`
    SELECT NOT EXISTS (SELECT FROM profile) AND NOT EXISTS (SELECT FROM block_page) AS "isEmpty",
           domain_hash_check AS "hashCheck"
    FROM ${HEAD_TABLE}`);
  const { isEmpty, hashCheck } = rows[0];
  if (!isEmpty && !replace) {
    throw new StartError('the database holds a configuration; --replace says that it may go');
  }
  if (hashCheck !== null && domainHashCheck !== null && hashCheck !== domainHashCheck) {
    throw new StartError(
      'it was made under another DOMAIN_HASH_KEY than this database is used with; its domain rules would match nothing',
    );
  }
}

/** Cleans up. If the connection broke, the next restore cleans up instead. */
async function tidyUp(client: Client): Promise<void> {
  try {
    await client.query('ROLLBACK');
    await dropStaging(client);
  } catch {
    // The first error explains more.
  }
}
