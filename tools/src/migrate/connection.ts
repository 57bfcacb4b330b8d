import { StartError } from '@weir/ops';
import pg from 'pg';

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Does something over a connection of its own, which is closed then.
 * @throws StartError in one line when the database is out of reach.
 */
export async function withConnection<T>(
  databaseUrl: string,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'weir-migrate',
    keepAlive: true,
  });
  // A connection that breaks fails the query under way, which says so.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (cause) {
    throw new StartError(`the database cannot be reached: ${reasonOf(cause)} (DATABASE_URL)`, {
      cause,
    });
  }
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** In one line. Several addresses that were tried in vain have a message each, and none in common. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}
