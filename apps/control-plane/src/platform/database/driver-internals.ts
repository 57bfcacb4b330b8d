import type { Socket } from 'node:net';
import type { ClientBase } from 'pg';

/** Properties of the driver's clients that its types do not declare. */
interface ClientInternals {
  readonly connection: { readonly stream: Socket };
  /** True when no query is in progress. */
  readonly readyForQuery: boolean | null;
}

export function streamOf(client: ClientBase): Socket {
  return (client as unknown as ClientInternals).connection.stream;
}

export function hasQueryInProgress(client: ClientBase): boolean {
  return (client as unknown as ClientInternals).readyForQuery !== true;
}
