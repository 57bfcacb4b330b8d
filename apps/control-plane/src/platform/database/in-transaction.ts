import type { PoolClient } from 'pg';
import type { Database } from './database.js';
import { boundSilence } from './silence.js';
import { withConnection } from './with-connection.js';

/**
 * Does some work in one transaction of a connection's own. What it throws undoes everything.
 * @param ownSilenceMs as of `boundSilence`, for this transaction.
 */
export async function inTransaction<T>(
  { pool, silenceMs }: Database,
  ownSilenceMs: number,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return withConnection(pool, async (client) => {
    boundSilence(client, ownSilenceMs);
    try {
      await client.query('BEGIN');
      const result = await work(client);
      await client.query('COMMIT');
      return result;
    } finally {
      boundSilence(client, silenceMs);
    }
  });
}
