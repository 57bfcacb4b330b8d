import type { PoolClient } from 'pg';
import type { Database } from './database.js';
import { boundSilence } from './silence.js';

/** Does some work in one transaction of a connection's own. What it throws undoes everything. @param ownSilenceMs as of `boundSilence`, for this transaction. */
export async function inTransaction<T>(
  { pool, silenceMs }: Database,
  ownSilenceMs: number,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  boundSilence(client, ownSilenceMs);
  // A connection that breaks between two queries says so in this event; the next query fails anyway.
  const heardAtNextQuery = (): void => undefined;
  client.on('error', heardAtNextQuery);
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    boundSilence(client, silenceMs);
    client.off('error', heardAtNextQuery);
    client.release();
    return result;
  } catch (error) {
    await giveBack(client, heardAtNextQuery, silenceMs);
    throw error;
  }
}

async function giveBack(
  client: PoolClient,
  listener: () => void,
  silenceMs: number,
): Promise<void> {
  try {
    boundSilence(client, silenceMs);
    await client.query('ROLLBACK');
    client.off('error', listener);
    client.release();
  } catch (error) {
    // It does not answer any more: PostgreSQL undoes what it did, and nobody uses it again.
    client.release(error instanceof Error ? error : true);
  }
}
