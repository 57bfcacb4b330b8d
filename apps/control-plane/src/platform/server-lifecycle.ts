import { explainListenError } from '@weir/ops';
import type { Server, ServerResponse } from 'node:http';
import { type AddressInfo, Server as TcpServer } from 'node:net';

/** Where a server listens; the variable is the one that says so. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly variable: string;
}

/** @returns the port. @throws StartError that names the port and its variable when it cannot be had. */
export function listen(server: Server, place: ListenAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    const refuse = (error: Error): void => {
      const explained = explainListenError(error, place);
      reject(explained instanceof Error ? explained : error);
    };
    trackResponses(server);
    server.once('error', refuse);
    server.listen(place.port, place.host, () => {
      server.off('error', refuse);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Time for requests that are on their way on connections that were kept. */
const IDLE_CHECK_MS = 100;

/** Answers that each server has not begun yet. */
const openResponses = new WeakMap<Server, Set<ServerResponse>>();
/** Servers that are going to stop. */
const draining = new WeakSet<Server>();

function trackResponses(server: Server): void {
  const responses = new Set<ServerResponse>();
  openResponses.set(server, responses);
  server.prependListener('request', (_request, response) => {
    if (draining.has(server)) isLast(response);
    responses.add(response);
    response.once('close', () => responses.delete(response));
  });
}

/** Says that no request may follow on the connection, or it would be lost when that is closed (RFC 9112 §9.6). */
function isLast(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

/**
 * Answers everything as before, but each answer is the last on its connection: the next request finds its way anew,
 * to another replica.
 */
export function drainServer(server: Server): void {
  draining.add(server);
  openResponses.get(server)?.forEach(isLast);
}

/** Accepts no more connections and resolves when what is in flight is answered; after `deadlineMs` it is cut off. */
export async function closeServer(server: Server, deadlineMs: number): Promise<void> {
  drainServer(server);
  // Connections that are kept alive would hold the server open after their last answer.
  const sweep = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const cut = setTimeout(() => server.closeAllConnections(), deadlineMs);
  // Not its own `close`, which begins with all connections that are idle at this moment.
  await new Promise((resolve) => TcpServer.prototype.close.call(server, resolve));
  server.close();
  clearInterval(sweep);
  clearTimeout(cut);
}
