import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';

export interface OpsServerOptions {
  readonly host: string;
  readonly port: number;
  /** Why the process cannot serve yet, or null when it can. Asked at each `GET /readyz`. */
  readonly notReady: () => string | null | Promise<string | null>;
  readonly registry: Registry;
}

export interface OpsServer {
  /** The port listened on. */
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves health and metrics: `GET /livez` (200 while the process turns), `GET /readyz` (200, or 503 with the reason),
 * `GET /metrics` (Prometheus text). Holds no secrets and takes no input, so it asks for no token.
 * @throws the listen error (`EADDRINUSE` …).
 */
export async function startOpsServer(options: OpsServerOptions): Promise<OpsServer> {
  const server = createServer((request, response) => {
    answer(options, request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error('metrics failed'));
    });
  });
  server.requestTimeout = 10_000;
  server.headersTimeout = 5_000;
  await listen(server, options.port, options.host);
  return {
    port: (server.address() as AddressInfo).port,
    close: () => close(server),
  };
}

async function answer(
  options: OpsServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return send(response.setHeader('Allow', 'GET, HEAD'), 405, 'method not allowed\n');
  }
  switch (request.url?.split('?', 1)[0]) {
    case '/livez':
      return send(response, 200, 'ok\n');
    case '/readyz': {
      const reason = await options.notReady();
      return reason === null ? send(response, 200, 'ok\n') : send(response, 503, `${reason}\n`);
    }
    case '/metrics':
      return send(response, 200, await options.registry.metrics(), options.registry.contentType);
    default:
      return send(response, 404, 'not found\n');
  }
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  type = 'text/plain; charset=utf-8',
): void {
  response.writeHead(status, { 'Content-Type': type }).end(body);
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}
