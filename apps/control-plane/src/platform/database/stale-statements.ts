import type { Client, Pool, PoolClient } from 'pg';
import type { EventEmitter } from 'node:events';

/** What the driver's clients have, and their types do not say. */
interface Inside {
  readonly connection: EventEmitter<{ errorMessage: [{ readonly code?: string }] }>;
}

/** Of a prepared statement whose columns have other types than when it was prepared, and of one that is gone. */
const STALE = new Set(['0A000', '26000']);

/**
 * Replaces connections on which prepared statements have gone stale, by a migration or a pooler, when they are given
 * back. The driver would go on using the statements for as long as the connection lasts.
 */
export function replaceStale(pool: Pool): void {
  const stale = new WeakSet<PoolClient>();
  pool.on('connect', (client) => {
    (client as unknown as Inside).connection.on('errorMessage', ({ code }) => {
      if (code !== undefined && STALE.has(code)) stale.add(client);
    });
  });
  pool.on('release', (_error, client) => {
    // The pool does not keep one that ends.
    if (stale.has(client)) void (client as unknown as Client).end();
  });
}
