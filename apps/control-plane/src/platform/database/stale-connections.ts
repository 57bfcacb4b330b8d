import type { Client, Pool, PoolClient } from 'pg';
import type { EventEmitter } from 'node:events';

/** Properties of the driver's clients that its types do not declare. */
interface ClientInternals {
  readonly connection: EventEmitter<{ errorMessage: [{ readonly code?: string }] }>;
}

/** SQLSTATEs of a prepared statement whose result type has changed, and of one that does not exist any more. */
const STALE = new Set(['0A000', '26000']);

/**
 * Closes a connection when it is released, if its prepared statements have become invalid by a migration or a
 * connection pooler. The driver would otherwise use them as long as the connection lives.
 */
export function closeStaleConnections(pool: Pool): void {
  const stale = new WeakSet<PoolClient>();
  pool.on('connect', (client) => {
    (client as unknown as ClientInternals).connection.on('errorMessage', ({ code }) => {
      if (code !== undefined && STALE.has(code)) stale.add(client);
    });
  });
  pool.on('release', (_error, client) => {
    // The pool removes a connection that ends.
    if (stale.has(client)) void (client as unknown as Client).end();
  });
}
