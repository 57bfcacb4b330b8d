import type { PoolClient } from 'pg';
import type { Database } from './database.js';
import { withConnection } from './with-connection.js';

/**
 * Runs some work in one transaction on its own connection. When it throws, everything is undone.
 * @param transactionTimeoutMs longest silence of PostgreSQL during this transaction, see `SilenceWatch.watch`.
 */
export async function inTransaction<T>(
  { pool, silence, silenceTimeoutMs }: Database,
  transactionTimeoutMs: number,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return withConnection(pool, async (client) => {
    silence.watch(client, transactionTimeoutMs);
    try {
      await client.query('BEGIN');
      const result = await work(client);
      await client.query('COMMIT');
      return result;
    } finally {
      silence.watch(client, silenceTimeoutMs);
    }
  });
}
