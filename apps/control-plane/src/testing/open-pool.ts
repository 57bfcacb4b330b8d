import pg from 'pg';

/**
 * A pool for a spec. Its database may be dropped while the last connection is still closing. Without a listener that
 * error would end the test run.
 */
export function openPool(options: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(options);
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
  });
  return pool;
}
