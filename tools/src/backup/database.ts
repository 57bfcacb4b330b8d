import { StartError } from '@weir/ops';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type pg from 'pg';
import { createFolder, lockFolder, ownerOf } from '../services/files.js';
import { startPostgres } from '../services/postgres.js';
import { withConnection } from '../migrate/connection.js';

const PURPOSE = {
  application: 'weir-backup',
  hint: 'DATABASE_URL, or the local stack',
};

/** Overrides settings of the database: our statements may take long, and the text format must be fixed. */
const SETTINGS = `
  SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0;
  SET datestyle = 'ISO'; SET bytea_output = 'hex'`;

/**
 * The URL of the database: DATABASE_URL, or that of the local stack, which writes it into its folder.
 * @param root folder of the repository
 */
export function findDatabase(
  { DATABASE_URL, DATA_DIR }: { DATABASE_URL: string | undefined; DATA_DIR: string },
  root: string,
): string {
  if (DATABASE_URL !== undefined) return DATABASE_URL;
  const file = join(resolve(root, DATA_DIR), 'stack.json');
  if (!existsSync(file)) {
    throw new StartError(
      `there is no database: set DATABASE_URL, or start the local stack (npm start), which makes ${file}`,
    );
  }
  const given = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, string>>;
  const url = given['backup']?.['DATABASE_URL'];
  if (url === undefined) throw new StartError(`${file} names no database`);
  return url;
}

/**
 * Runs `use` with the URL of the database: DATABASE_URL, that of the local stack if it runs, else the stack's own
 * PostgreSQL, which is started for that long.
 * @param mayCreate whether a stack that has no data of PostgreSQL gets a new one
 */
export async function withDatabase(
  variables: { DATABASE_URL: string | undefined; DATA_DIR: string },
  root: string,
  mayCreate: boolean,
  use: (databaseUrl: string) => Promise<void>,
): Promise<void> {
  const folder = resolve(root, variables.DATA_DIR);
  const has = (name: string) => existsSync(join(folder, name));
  // The password stays where the data of another major version were put aside.
  const isOwn = has('postgres') || (mayCreate && (has('postgres.password') || !has('stack.json')));
  if (variables.DATABASE_URL !== undefined || !isOwn || ownerOf(folder) !== null) {
    await use(findDatabase(variables, root));
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

/** Runs `use` with its own connection. @throws StartError with one line when the database cannot be reached. */
export async function withClient<T>(
  databaseUrl: string,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  return withConnection(
    databaseUrl,
    async (client) => {
      await client.query(SETTINGS);
      return use(client);
    },
    PURPOSE,
  );
}
