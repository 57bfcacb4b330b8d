import type { PoolClient } from 'pg';
import type { Database } from './database.js';
import { setIdleTimeout } from './idle-timeout.js';
import { withConnection } from './with-connection.js';

/**
 * Runs some work in one transaction on its own connection. When it throws, everything is undone.
 * @param transactionIdleTimeoutMs idle timeout of the socket for this transaction, see `setIdleTimeout`.
 */
export async function inTransaction<T>(
  { pool, idleTimeoutMs }: Database,
  transactionIdleTimeoutMs: number,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return withConnection(pool, async (client) => {
    setIdleTimeout(client, transactionIdleTimeoutMs);
    try {
      await client.query('BEGIN');
      const result = await work(client);
      await client.query('COMMIT');
      return result;
    } finally {
      setIdleTimeout(client, idleTimeoutMs);
    }
  });
}
