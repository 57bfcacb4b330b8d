import { explainListenError } from '@weir/ops';
import type { Server, ServerResponse } from 'node:http';
import { type AddressInfo, Server as TcpServer } from 'node:net';

/** Address of a server, and the name of the variable that sets its port. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly variable: string;
}

/** @returns the port. @throws StartError that names the port and its variable when the port cannot be used. */
export function listen(server: Server, place: ListenAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error): void => {
      const explained = explainListenError(error, place);
      reject(explained instanceof Error ? explained : error);
    };
    trackResponses(server);
    server.once('error', onError);
    server.listen(place.port, place.host, () => {
      server.off('error', onError);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** At a stop, requests that take longer are aborted. A stop may take ten seconds in all. */
const REQUEST_DEADLINE_MS = 7_000;
/** Interval in which idle connections are closed during a stop. */
const IDLE_CHECK_MS = 100;

/** Responses in progress, by server. */
const openResponses = new WeakMap<Server, Set<ServerResponse>>();
/** Servers that will stop. */
const draining = new WeakSet<Server>();

function trackResponses(server: Server): void {
  const responses = new Set<ServerResponse>();
  openResponses.set(server, responses);
  server.prependListener('request', (_request, response) => {
    if (draining.has(server)) setConnectionClose(response);
    responses.add(response);
    response.once('close', () => responses.delete(response));
  });
}

/** Tells the client to send no more requests on the connection, which will be closed (RFC 9112 §9.6). */
function setConnectionClose(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

/**
 * Continues to serve requests, but closes each connection after its response, so that clients connect again, to another
 * replica.
 */
export function drainServer(server: Server): void {
  draining.add(server);
  openResponses.get(server)?.forEach(setConnectionClose);
}

/**
 * Accepts no more connections, and waits for the requests in progress. After `deadlineMs` it closes all connections.
 */
export async function closeServer(server: Server, deadlineMs = REQUEST_DEADLINE_MS): Promise<void> {
  if (!server.listening) return;
  drainServer(server);
  // Kept-alive connections would keep the server open. What has arrived on them is read first: after a pause of the
  // process a timer comes before it.
  const closeIdle = (): void => server.closeIdleConnections();
  const sweep = setInterval(() => setImmediate(closeIdle), IDLE_CHECK_MS);
  const cut = setTimeout(() => server.closeAllConnections(), deadlineMs);
  // An HTTP server is a `net.Server` by its documentation, whose `close` only stops listening. Its own would close idle
  // connections at once, and with them requests on their way, and it has no option against that.
  await new Promise((resolve) => TcpServer.prototype.close.call(server, resolve));
  server.close();
  clearInterval(sweep);
  clearTimeout(cut);
}
