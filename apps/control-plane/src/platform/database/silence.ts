import type { PoolClient } from 'pg';
import type { Socket } from 'node:net';

/** What the driver's clients have, and their types do not say. */
interface Inside {
  readonly connection: { readonly stream: Socket };
  /** Whether nothing that was asked is still to be answered. */
  readonly readyForQuery: boolean | null;
}

/**
 * Breaks the connection when a query waits for longer than this without a byte in either direction: a server that takes
 * packets and never answers would hold it, and all that wait behind it, for ever. Replaces an earlier bound.
 */
export function boundSilence(client: PoolClient, silenceMs: number): void {
  const { connection } = client as unknown as Inside;
  connection.stream.removeAllListeners('timeout');
  connection.stream.setTimeout(silenceMs, () => {
    if ((client as unknown as Inside).readyForQuery === true) return;
    connection.stream.destroy(
      Object.assign(new Error('PostgreSQL does not answer'), { code: 'ETIMEDOUT' }),
    );
  });
}
