import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { Logger } from './log.js';
import type { OpsCalls } from './ops-calls.js';
import { listen } from './process.js';
import { ReadMetrics } from './read-metrics.js';

// An import of node:http loads what belongs to `fetch` too: 7 MB of memory in each thread (Node 26).
const { createServer } = process.getBuiltinModule('node:http');

export interface OpsServerOptions {
  readonly host: string;
  readonly port: number;
  readonly log: Pick<Logger, 'error'>;
}

/**
 * What a process reports about itself once it has started. The functions are called at each `GET /readyz`. Their texts
 * are short, plain lines without secrets.
 */
export interface OpsHandlers {
  /** Why the process cannot serve, or null when it can. */
  readonly notReady: () => string | null | Promise<string | null>;
  /** What does not work as it should although the process can serve. */
  readonly degraded?: () => readonly string[] | Promise<readonly string[]>;
  readonly registry: Registry;
  readonly calls?: OpsCalls;
  /** Handles `GET` requests for other paths. @returns false when it does not know the path. */
  readonly handleOther?: (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;
}

/** Idle connections must not keep others waiting for long. */
const SERVER = {
  requestTimeout: 10_000,
  headersTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
};
/** The metrics until `serve` is called, so that alerts see a process that does not come to an end of its start. */
const STARTING = '# TYPE weir_ready gauge\nweir_ready 0\n';

/** More are closed at once: the process needs its file descriptors for its work. */
const MAX_CONNECTIONS = 1_024;

/**
 * Health and metrics of a process: `GET /livez` (200 while the process runs), `GET /readyz` (200, or 503 with the
 * reason, then a line for each thing that is degraded), `GET /metrics` (Prometheus text). They have no secrets and
 * take no input, so they need no token; `OpsCalls` do. A process starts it first. Until `serve` is called the process
 * is not ready, has no metric but `weir_ready`, and no calls.
 */
export class OpsServer {
  private handlers: OpsHandlers | null = null;
  private isDraining = false;
  private starting = 'starting';
  private readonly server: Server;

  private constructor(private readonly log: Pick<Logger, 'error'>) {
    this.server = createServer(SERVER, (request, response) => {
      this.handle(request, response).catch((error: unknown) => {
        // A client may break off its request at any time.
        if (request.complete) log.error({ err: error }, 'a request on the ops port failed');
        response.destroy();
      });
    });
    this.server.maxConnections = MAX_CONNECTIONS;
  }

  /** @throws StartError that names `OPS_PORT` when it cannot listen on that port. */
  static async start({ host, port, log }: OpsServerOptions): Promise<OpsServer> {
    const ops = new OpsServer(log);
    await listen(ops.server, { host, port, variable: 'OPS_PORT' });
    return ops;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Sets the reason why the process is not ready until `serve` is called. */
  waitFor(what: string): void {
    this.starting = `starting: ${what}`;
  }

  /** From now on the handlers decide whether it is ready. */
  serve(handlers: OpsHandlers): void {
    this.handlers = handlers;
    const metrics = new ReadMetrics(handlers.registry, 'weir_');
    metrics.gauge('ready', '1: the process is ready, as /readyz says', async () =>
      (await this.whyNotReady()) === null ? 1 : 0,
    );
  }

  /** The process is about to stop: from now on it is not ready. */
  drain(): void {
    this.isDraining = true;
  }

  async close(): Promise<void> {
    const closed = once(this.server.close(), 'close');
    this.server.closeAllConnections();
    await closed;
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if ((await this.handlers?.calls?.handle(request, response)) === true) return;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return send(response.setHeader('Allow', 'GET, HEAD'), 405, 'method not allowed\n');
    }
    switch (request.url?.split('?', 1)[0]) {
      case '/livez':
        return send(response, 200, 'ok\n');
      case '/readyz':
        return this.answerReadiness(response);
      case '/metrics': {
        const registry = this.handlers?.registry;
        return send(response, 200, (await registry?.metrics()) ?? STARTING, registry?.contentType);
      }
      default:
        if ((await this.handlers?.handleOther?.(request, response)) === true) return;
        return send(response, 404, 'not found\n');
    }
  }

  private async answerReadiness(response: ServerResponse): Promise<void> {
    const [reason, degraded = []] = await Promise.all([
      this.whyNotReady(),
      this.handlers?.degraded?.(),
    ]);
    const lines = [reason ?? 'ok', ...degraded.map((what) => `degraded: ${what}`)];
    send(response, reason === null ? 200 : 503, `${lines.join('\n')}\n`);
  }

  private async whyNotReady(): Promise<string | null> {
    if (this.isDraining) return 'stopping';
    if (this.handlers === null) return this.starting;
    try {
      return await this.handlers.notReady();
    } catch (error) {
      // The text of an error may hold secrets. It belongs in the log only.
      this.log.error({ err: error }, 'the readiness check failed');
      return 'cannot find out whether it is ready; the log says why';
    }
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
