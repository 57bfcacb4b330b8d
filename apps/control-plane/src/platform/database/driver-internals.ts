import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import type { ClientBase } from 'pg';

/** Properties of the driver's clients that its types do not declare. */
interface ClientInternals {
  readonly connection: { readonly stream: Socket };
  /** True when no query is in progress. */
  readonly readyForQuery: boolean | null;
  /** The query in progress. That of a COPY … FROM STDIN is a stream of its rows. */
  readonly _activeQuery: unknown;
  readonly processID: number;
}

export function streamOf(client: ClientBase): Socket {
  return internalsOf(client).connection.stream;
}

/** The number of the connection's session in PostgreSQL (`pid`). */
export function sessionOf(client: ClientBase): number {
  return internalsOf(client).processID;
}

/** Whether a query is in progress, and PostgreSQL has to go on: a COPY may itself wait for its next rows. */
export function waitsForServer(client: ClientBase): boolean {
  const { readyForQuery, _activeQuery: query } = internalsOf(client);
  const awaitsRows = query instanceof Writable && !query.writableEnded && !query.writableNeedDrain;
  return readyForQuery !== true && !awaitsRows;
}

function internalsOf(client: ClientBase): ClientInternals {
  return client as unknown as ClientInternals;
}
