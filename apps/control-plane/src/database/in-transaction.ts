import type { Pool, PoolClient } from 'pg';
import type { Database } from './database.js';
import { boundSilence } from './silence.js';

/** Does some work in one transaction of a connection's own. What it throws undoes everything. @param ownSilenceMs as of `boundSilence`, for this transaction. */
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

/** Lends a connection of the pool to some work. When it throws, the transaction that it left open is undone. */
export async function withConnection<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    await client.query('ROLLBACK').then(
      () => {
        client.release();
      },
      (broken: unknown) => {
        // It does not answer any more: PostgreSQL undoes what it did, and nobody uses it again.
        client.release(broken instanceof Error ? broken : true);
      },
    );
    throw error;
  }
}
