import { StartError } from '@weir/ops';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { withConnection } from '../migrate/connection.js';
import { createFolder, lockFolder, ownerOf } from '../services/files.js';
import { startPostgres } from '../services/postgres.js';

const PURPOSE = { application: 'weir-backup', hint: 'DATABASE_URL, or the local stack' };

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
    try {
      await use(server.url);
    } finally {
      await server.stop();
    }
  } finally {
    lock.release();
  }
}

function stackDatabase(file: string): string {
  const variables = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, string>>)
    : {};
  const url = variables['backup']?.['DATABASE_URL'];
  if (url !== undefined) return url;
  throw new StartError(
    `there is no database: set DATABASE_URL, or start the local stack (npm start), which writes ${file}`,
  );
}

/** Runs `use` with its own connection. @throws StartError with one line when the database cannot be reached. */
export async function withClient<T>(
  databaseUrl: string,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const prepared = async (client: pg.Client) => {
    await client.query(SETTINGS);
    return use(client);
  };
  return withConnection(databaseUrl, prepared, PURPOSE);
}

/** Makes one line of an error that an operator can mend. Any other error stays as it is. */
export function toStartError(doing: string, error: unknown): unknown {
  const { code, message, detail } = error as pg.DatabaseError;
  const isKnown = error instanceof StartError || code !== undefined;
  if (!isKnown && !message.startsWith('Connection terminated')) return error;
  const more = detail === undefined ? '' : ` (${detail})`;
  return new StartError(`${doing}: ${message}${more}`, { cause: error });
}
