import { StartError } from '@weir/ops';
import pg from 'pg';

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Overrides what the database or the role has set: our statements may take long, a transaction that has waited sees the
 * changes before it, and texts have a fixed form. Each release of PostgreSQL has its own timeouts.
 */
const SETTINGS = `
  SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout',
    'transaction_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout');
  SET default_transaction_isolation = 'read committed'; SET DateStyle = 'ISO'; SET bytea_output = 'hex';
  SET client_encoding = 'UTF8'`;

/**
 * Runs `use` with its own connection and the settings that it needs, and closes it afterwards.
 * @param hint what a user should look at when the database cannot be reached
 * @param application what PostgreSQL shows as `application_name`
 * @throws StartError with one line when the database cannot be reached.
 */
export async function withConnection<T>(
  databaseUrl: string,
  use: (client: pg.Client) => Promise<T>,
  hint = 'DATABASE_URL',
  application = 'weir-migrate',
): Promise<T> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: application,
    keepAlive: true,
  });
  // When a connection breaks, the running query fails and reports it.
  client.on('error', () => undefined);
  await client.connect().catch((cause: unknown) => {
    // Nobody waits for it: the end of a client that is not connected may never come.
    client.end().catch(() => undefined);
    throw new StartError(`the database cannot be reached: ${reasonOf(cause)} (${hint})`, { cause });
  });
  try {
    await client.query(SETTINGS);
    return await use(client);
  } finally {
    await client.end();
  }
}

/** One line. If several addresses failed, the error has a message for each and none of its own. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}

/**
 * The result of `work`, whose errors become one line where an operator can mend them.
 * @param failed what to say when it fails for a reason that an operator can mend
 * @throws StartError with one line then, and the reason of `signal` when that is aborted
 */
export async function explained<T>(
  signal: AbortSignal,
  failed: () => string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    const { code, message, detail } = error as pg.DatabaseError;
    const isKnown = error instanceof StartError || code !== undefined;
    if (!isKnown && !message.startsWith('Connection terminated')) throw error;
    const more = detail === undefined ? '' : ` (${detail})`;
    throw new StartError(`${failed()}: ${message}${more}`, { cause: error });
  }
}
