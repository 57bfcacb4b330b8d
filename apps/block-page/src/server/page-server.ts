import { ClientAddress, type ConnectionPool, ProxyHeaderReader } from '@weir/clients';
import { type CidrSet, listen, type Logger, type Place } from '@weir/ops';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { COMMON_HEADERS } from '../html/security-headers.js';
import type { PageCounters, Refusal } from '../metrics/page-counters.js';
import type { PageHandler } from './page-handler.js';

/** Resets each connection at once, so that no browser waits for a page that it cannot get. */
export class HttpsRefusal {
  private readonly server = createTcpServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => undefined).resetAndDestroy();
  });

  /** Listens there, see `listen`. */
  start(place: Place): Promise<number> {
    return listen(this.server, place);
  }

  async stop(): Promise<void> {
    await once(this.server.close(), 'close');
  }
}

/** Large, because a browser also sends the cookies of the blocked site. */
const MAX_HEADER_BYTES = 32 * 1024;
const HEADER_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 10_000;
const TIMEOUT_CHECK_INTERVAL_MS = 1_000;
const IDLE_TIMEOUT_MS = 10_000;
/** Maximum duration of a connection, for clients that read slowly. */
const MAX_CONNECTION_MS = 60_000;
const DRAIN_MS = 3_000;

export interface PageServerOptions {
  readonly handler: PageHandler;
  readonly trustedProxies: CidrSet;
  readonly connections: ConnectionPool;
  readonly counters: PageCounters;
  /** Gets errors of the listening socket, and defects. The server continues. */
  readonly log: Pick<Logger, 'error'>;
}

/** The HTTP server of the page. It limits connections and requests, and identifies their clients. */
export class PageServer {
  private readonly server: Server;
  private readonly clients = new WeakMap<Socket, ClientAddress>();
  private readonly serveHttp: (socket: Socket) => void;
  /** Open connections, including those whose client is not known yet. */
  private readonly open = new Set<Socket>();

  constructor(private readonly options: PageServerOptions) {
    this.server = createServer(
      {
        maxHeaderSize: MAX_HEADER_BYTES,
        headersTimeout: HEADER_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
        // An HTTP/1.1 request without Host gets the page for requests without a name.
        requireHostHeader: false,
      },
      (request, response) => void this.answer(request, response),
    );
    this.server.timeout = IDLE_TIMEOUT_MS;
    // A connection ends with its first answer. A second request on it would wait for an answer for ever.
    this.server.maxRequestsPerSocket = 1;
    this.server.on(
      'checkExpectation',
      (request: IncomingMessage, response: ServerResponse) => void this.answer(request, response),
    );
    this.server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
      this.refuseMalformed(error, socket),
    );
    // First identify the client of a connection, then pass it to the HTTP server.
    const [serveHttp] = this.server.listeners('connection') as ((socket: Socket) => void)[];
    this.serveHttp = serveHttp.bind(this.server);
    this.server
      .removeAllListeners('connection')
      .on('connection', (socket: Socket) => this.identify(socket));
  }

  get connectionCount(): number {
    return this.open.size;
  }

  /** Listens there, see `listen`. */
  async start(place: Place): Promise<number> {
    const port = await listen(this.server, place);
    this.server.on('error', (error) => this.logFault(error));
    return port;
  }

  /** Accepts no more connections, answers running requests, then closes. */
  async stop(): Promise<void> {
    const closed = once(this.server.close(), 'close');
    for (const socket of this.open) if (!this.clients.has(socket)) socket.destroy();
    const timer = setTimeout(() => {
      for (const socket of this.open) socket.destroy();
    }, DRAIN_MS);
    await closed;
    clearTimeout(timer);
  }

  private identify(socket: Socket): void {
    const client = new ClientAddress();
    this.open.add(socket);
    socket.once('close', () => this.open.delete(socket));
    destroyAfter(socket, MAX_CONNECTION_MS);
    if (!client.set(socket.remoteAddress ?? '', socket.remotePort ?? 0)) {
      socket.destroy();
      return;
    }
    if (!this.options.trustedProxies.has(client)) return this.admit(socket, client);
    const named = this.options.connections.acquireUnnamed();
    if (named === null) return this.reject(socket, 'crowded');
    socket.once('close', named);
    const deadline = destroyAfter(socket, HEADER_TIMEOUT_MS);
    new ProxyHeaderReader({
      socket,
      client,
      nowMs: 0,
      isOptional: true,
      onClient: () => {
        clearTimeout(deadline);
        named();
        this.admit(socket, client);
      },
      onError: () => this.reject(socket, 'unproxied'),
    });
  }

  private admit(socket: Socket, client: ClientAddress): void {
    const { connections, trustedProxies } = this.options;
    const close = (): void => void socket.destroy();
    const acquired = trustedProxies.has(client)
      ? connections.acquireProxy(close)
      : connections.acquire(client, close);
    if (acquired === null) return this.reject(socket, 'crowded');
    socket.once('close', () => connections.release(acquired));
    this.clients.set(socket, client);
    this.serveHttp(socket);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { handler, counters } = this.options;
    const client = new ClientAddress();
    client.copyFrom(this.clients.get(request.socket) as ClientAddress);
    try {
      await handler.handle(request, response, client);
    } catch (error) {
      counters.refuse('defect');
      this.logFault(error);
      if (response.headersSent) response.destroy();
      else response.writeHead(500, { ...COMMON_HEADERS }).end();
    }
  }

  private logFault(error: unknown): void {
    this.options.log.error({ err: error }, 'a request could not be handled');
  }

  private refuseMalformed({ code }: NodeJS.ErrnoException, socket: Duplex): void {
    if (code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    this.options.counters.refuse('malformed');
    const date = new Date().toUTCString();
    const headers = { ...COMMON_HEADERS, Date: date, 'Content-Length': '0' };
    const lines = Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    socket.end(`HTTP/1.1 ${malformedStatus(code)}\r\n${lines}\r\n`);
  }

  private reject(socket: Socket, refusal: Refusal): void {
    this.options.counters.refuse(refusal);
    socket.destroy();
  }
}

/** Destroys the connection after `ms`. @returns the timer, which may be cleared. */
function destroyAfter(socket: Socket, ms: number): NodeJS.Timeout {
  const timer = setTimeout(() => socket.destroy(), ms);
  socket.once('close', () => clearTimeout(timer));
  return timer;
}

function malformedStatus(code: string | undefined): string {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return '431 Request Header Fields Too Large';
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return '408 Request Timeout';
    default:
      return '400 Bad Request';
  }
}
