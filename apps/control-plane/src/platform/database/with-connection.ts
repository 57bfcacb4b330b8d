import type { Pool, PoolClient } from 'pg';

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
