import type { Socket } from 'node:net';
import type { PoolClient } from 'pg';

/** Properties of the driver's clients that its types do not declare. */
interface ClientInternals {
  readonly connection: { readonly stream: Socket };
  /** True when no query is in progress. */
  readonly readyForQuery: boolean | null;
}

/**
 * Sets the idle timeout of the socket during a query: the connection is destroyed (`ETIMEDOUT`) when a query waits for
 * longer than this without a byte in either direction. Otherwise a server that never answers would hold the connection
 * for ever. Replaces an earlier timeout.
 */
export function setIdleTimeout(client: PoolClient, idleTimeoutMs: number): void {
  const { connection } = client as unknown as ClientInternals;
  connection.stream.removeAllListeners('timeout');
  connection.stream.setTimeout(idleTimeoutMs, () => {
    if ((client as unknown as ClientInternals).readyForQuery === true) return;
    connection.stream.destroy(
      Object.assign(new Error('PostgreSQL does not answer'), { code: 'ETIMEDOUT' }),
    );
  });
}
