import { StartError } from '@weir/ops';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import pg from 'pg';

const CONNECT_TIMEOUT_MS = 10_000;

/** Whatever the database is set to: statements of ours may take long, and text is written in one way. */
const SETTINGS = `
  SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0;
  SET datestyle = 'ISO'; SET bytea_output = 'hex'`;

/**
 * The database of this deployment: DATABASE_URL, or that of the local stack, which leaves it in its folder.
 * @param root of the repository
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
  const url = given['control-plane']?.['DATABASE_URL'];
  if (url === undefined) throw new StartError(`${file} names no database`);
  return url;
}

/** Does something over a connection of its own. @throws StartError in one line when the database is out of reach. */
export async function withClient<T>(
  databaseUrl: string,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'weir-backup',
    keepAlive: true,
  });
  // A connection that breaks fails the query under way, which says so.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (cause) {
    const reason = cause instanceof AggregateError ? cause.errors.map(String).join(', ') : cause;
    throw new StartError(
      `the database cannot be reached: ${String(reason)} (DATABASE_URL, or the local stack, which must run)`,
      { cause },
    );
  }
  try {
    await client.query(SETTINGS);
    return await use(client);
  } finally {
    await client.end();
  }
}
