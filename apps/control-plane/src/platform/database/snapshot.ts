import type { Head } from '@weir/config-model';
import type { Pool, PoolClient } from 'pg';

/** Rows fetched, and held in memory, at a time. */
const PAGE_ROWS = 1_000;

/**
 * The configuration at one revision, read page by page: memory stays flat at any size, and no change is seen half.
 * Holds a connection until closed.
 */
export class Snapshot {
  private constructor(
    private readonly client: PoolClient,
    readonly head: Head,
  ) {}

  static async open(pool: Pool): Promise<Snapshot> {
    const client = await pool.connect();
    client.on('error', heardAtNextQuery);
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const { rows } = await client.query<Head>(
        'SELECT lineage, revision::float8, digest FROM config_head',
      );
      const [head] = rows;
      if (head === undefined) throw new Error('config_head has lost its row');
      return new Snapshot(client, head);
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  /** Reads a query's rows, at most a thousand at a time. One query at a time. */
  async *pages(sql: string): AsyncGenerator<unknown[]> {
    await this.client.query(`DECLARE page NO SCROLL CURSOR FOR ${sql}`);
    for (;;) {
      const { rows } = await this.client.query<object>(`FETCH ${PAGE_ROWS} FROM page`);
      if (rows.length > 0) yield rows;
      if (rows.length < PAGE_ROWS) break;
    }
    await this.client.query('CLOSE page');
  }

  /** Ends the transaction and gives the connection back; one that does not answer any more is thrown away. */
  async close(): Promise<void> {
    try {
      await this.client.query('ROLLBACK');
      this.client.off('error', heardAtNextQuery);
      this.client.release();
    } catch (error) {
      this.client.release(error instanceof Error ? error : true);
    }
  }
}

/**
 * A connection that breaks between two queries says so in this event, which must be listened to; the next query fails
 * anyway.
 */
function heardAtNextQuery(): void {
  // Nothing to add.
}
