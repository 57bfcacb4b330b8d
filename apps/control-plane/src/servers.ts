import { explainListenError } from '@weir/ops';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Where a server listens; the variable is the one that says so. */
export interface Place {
  readonly host: string;
  readonly port: number;
  readonly variable: string;
}

/** @returns the port. @throws StartError that names the port and its variable when it cannot be had. */
export function listen(server: Server, place: Place): Promise<number> {
  return new Promise((resolve, reject) => {
    const refuse = (error: Error): void => {
      const explained = explainListenError(error, place);
      reject(explained instanceof Error ? explained : error);
    };
    server.once('error', refuse);
    server.listen(place.port, place.host, () => {
      server.off('error', refuse);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

const IDLE_CHECK_MS = 50;

/** Accepts nothing more and resolves when what is in flight is answered; after `drainMs` it is cut off. */
export async function closeServer(server: Server, drainMs: number): Promise<void> {
  // Connections that are kept alive would hold the server open after their last answer.
  const sweep = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const cut = setTimeout(() => server.closeAllConnections(), drainMs);
  await new Promise((resolve) => server.close(resolve));
  clearInterval(sweep);
  clearTimeout(cut);
}
