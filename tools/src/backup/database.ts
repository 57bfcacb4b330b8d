import { StartError } from '@weir/ops';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { withConnection } from '../migrate/connection.js';
import { createFolder, lockFolder, ownerOf } from '../services/files.js';
import { startPostgres } from '../services/postgres.js';

/** Overrides settings of the database: our statements may take long, and the text format must be fixed. */
const SETTINGS = `
  SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0;
  SET bytea_output = 'hex'; SET client_encoding = 'UTF8'`;

/**
 * Runs `use` with the URL of the database: that of the environment, that of the local stack in `folder` if it runs,
 * else the stack's own PostgreSQL, which is started for that long.
 * @param mayCreate whether a stack that has no data of PostgreSQL gets a new one
 * @throws StartError when there is no database
 */
export async function withDatabase(
  given: string | undefined,
  folder: string,
  mayCreate: boolean,
  use: (databaseUrl: string) => Promise<void>,
): Promise<void> {
  const has = (name: string) => existsSync(join(folder, name));
  // The password stays where the data of another major version were put aside.
  const isOwn = has('postgres') || (mayCreate && (has('postgres.password') || !has('stack.json')));
  if (given !== undefined || !isOwn || ownerOf(folder) !== null) {
    await use(given ?? stackDatabase(join(folder, 'stack.json')));
    return;
  }
  createFolder(join(folder, 'logs'));
  const lock = lockFolder(folder);
  try {
    const dataDir = join(folder, 'postgres');
    const server = await startPostgres({ dataDir, logFile: join(folder, 'logs/postgres.log') });
    await use(server.url).finally(() => server.stop());
  } finally {
    lock.release();
  }
}

function stackDatabase(file: string): string {
  type Variables = Partial<Record<string, Record<string, string>>>;
  const variables = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Variables) : {};
  const url = variables['backup']?.['DATABASE_URL'];
  if (url !== undefined) return url;
  throw new StartError(
    `there is no database: set DATABASE_URL, or start the local stack (npm start), which writes ${file}`,
  );
}

/**
 * Runs `use` with its own connection.
 * @param failed what to say when it fails for a reason that an operator can mend
 * @throws StartError with one line then, and the reason of `signal` when that is aborted
 */
export async function withClient<T>(
  databaseUrl: string,
  signal: AbortSignal,
  failed: () => string,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const work = (client: pg.Client) => client.query(SETTINGS).then(() => use(client));
  try {
    return await withConnection(
      databaseUrl,
      work,
      'DATABASE_URL, or the local stack',
      'weir-backup',
    );
  } catch (error) {
    signal.throwIfAborted();
    const { code, message, detail } = error as pg.DatabaseError;
    const isKnown = error instanceof StartError || code !== undefined;
    if (!isKnown && !message.startsWith('Connection terminated')) throw error;
    const more = detail === undefined ? '' : ` (${detail})`;
    throw new StartError(`${failed()}: ${message}${more}`, { cause: error });
  }
}

/** Columns of a table that have values of their own. @param isWanted a condition on `attname` */
export async function columnsOf(client: pg.Client, table: string, isWanted: string) {
  const { rows } = await client.query<{ columns: string | null }>(
    `SELECT string_agg(quote_ident(attname), ', ') AS columns FROM pg_attribute
     WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND ${isWanted}`,
    [table],
  );
  return rows[0].columns;
}
