import type { Pool, PoolClient } from 'pg';

/** Runs some work on a connection of the pool. When it throws, the transaction that it left open is rolled back. */
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
        // The connection is broken: PostgreSQL rolls back, and the pool discards the connection.
        client.release(broken instanceof Error ? broken : true);
      },
    );
    throw error;
  }
}

/** Runs some work in one transaction on a connection of the pool. When it throws, everything is undone. */
export function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return withConnection(pool, async (client) => {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  });
}
