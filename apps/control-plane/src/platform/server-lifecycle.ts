import { listen as listenAt, type Place } from '@weir/ops';
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { createServer, type Server as TcpServer, type Socket } from 'node:net';

/** At a stop, requests that take longer are aborted. A stop may take ten seconds in all. */
const REQUEST_DEADLINE_MS = 7_000;
/** Interval in which idle connections are closed during a stop. */
const IDLE_CHECK_MS = 100;

interface ListeningServer {
  /** Has the port. Closing it leaves the connections open, which closing the HTTP server would not. */
  readonly listener: TcpServer;
  /** In progress. */
  readonly responses: Set<ServerResponse>;
  /** Open connections. Node.js closes none whose TLS handshake has not ended. */
  readonly sockets: Set<Socket>;
  /** The server will stop. */
  draining: boolean;
}

const listening = new WeakMap<Server, ListeningServer>();

/** As `listen` of `@weir/ops`. */
export async function listen(server: Server, place: Place): Promise<number> {
  const state: ListeningServer = {
    listener: createServer(),
    responses: new Set(),
    sockets: new Set(),
    draining: false,
  };
  server.on('connection', (socket) => {
    state.sockets.add(socket);
    socket.once('close', () => state.sockets.delete(socket));
  });
  server.prependListener('request', (_request, response) => {
    if (state.draining) setConnectionClose(response);
    state.responses.add(response);
    response.once('close', () => state.responses.delete(response));
  });
  const port = await listenAt(state.listener, place);
  listening.set(server, state);
  await once(server.listen(state.listener), 'listening');
  return port;
}

/** Tells the client to send no more requests on the connection, which will be closed (RFC 9112 §9.6). */
function setConnectionClose(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

/** Serves on, but closes each connection after its response, so that clients connect again, to another replica. */
export function drainServer(server: Server): void {
  const state = listening.get(server);
  if (state === undefined) return;
  state.draining = true;
  state.responses.forEach(setConnectionClose);
}

/** Accepts no more connections, and waits for the requests in progress. At the deadline it closes all connections. */
export async function closeServer(server: Server, deadlineMs = REQUEST_DEADLINE_MS): Promise<void> {
  const state = listening.get(server);
  if (state === undefined) return;
  drainServer(server);
  listening.delete(server);
  state.listener.close();
  // What has arrived on idle connections is read before they are closed: after a pause of the process a timer comes
  // before it.
  const closeIdle = (): void => server.closeIdleConnections();
  const sweep = setInterval(() => setImmediate(closeIdle), IDLE_CHECK_MS);
  const cut = setTimeout(() => {
    for (const socket of state.sockets) socket.destroy();
  }, deadlineMs);
  await new Promise((resolve) => setTimeout(() => setImmediate(resolve), IDLE_CHECK_MS));
  await new Promise((resolve) => server.close(resolve));
  clearInterval(sweep);
  clearTimeout(cut);
}
