import type { LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { ClientAddress } from '@weir/clients';
import { type Logger, StartError } from '@weir/ops';
import express from 'express';
import type { Server } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { Registry } from 'prom-client';
import { AppModule } from './app.module.js';
import type { ControlPlaneConfiguration } from './configuration.js';
import { beginRequest, RequestMetrics } from './http/pipeline/begin-request.js';
import { Endpoints } from './http/routing/endpoint.js';
import { closeServer } from './platform/server-lifecycle.js';
import type { Process } from './process.js';

interface TimeLimits {
  /** To send the headers of a request. */
  readonly headersMs: number;
  /** To send the whole request. */
  readonly requestMs: number;
  /** Until the next request on a kept-alive connection. Longer than the 60 s of nginx and of many load balancers. */
  readonly idleMs: number;
  /** To read the next bytes of a response. A slow response may hold a connection to PostgreSQL. */
  readonly stallMs: number;
}

/** At 7 Mbit/s, the largest accepted body takes `requestMs`. */
const TIME_LIMITS = { headersMs: 20_000, requestMs: 300_000, idleMs: 75_000 };

/** Express as the management API needs it. */
class ManagementAdapter extends ExpressAdapter {
  constructor() {
    const instance = express();
    instance.enable('case sensitive routing');
    instance.disable('x-powered-by');
    // Responses are never cached, so they need no ETag.
    instance.disable('etag');
    super(instance);
  }

  /** Nest would close idle connections with requests on their way, and has no deadline. */
  override close(): Promise<void> {
    return closeServer(this.httpServer);
  }
}

/** The Nest application, whose server is that of the management API. `init` starts it. */
export async function createManagementApi(process: Process): Promise<NestExpressApplication> {
  const { tls, log, configuration } = process;
  const registry = new Registry();
  const module = AppModule.with(process, registry);
  const app = await NestFactory.create<NestExpressApplication>(module, new ManagementAdapter(), {
    bodyParser: false,
    abortOnError: false,
    // Fixed segments come before parameters, in any order of the controllers.
    routeResolutionStrategy: 'specificity',
    ...(tls && {
      // Nest passes it on to Node.js, although its type does not say so.
      httpsOptions: Object.assign(tls.serverOptions(), { handshakeTimeout: TIME_LIMITS.headersMs }),
    }),
    logger: nestLog(log),
  });
  const metrics = new RequestMetrics(registry);
  app.use(beginRequest(app.get(Endpoints), metrics, process));
  const server = app.getHttpServer();
  if (server instanceof HttpsServer) tls?.attach(server);
  limitConnections(server, configuration, () => metrics.refusedConnections.inc());
  limitTimes(server, { ...TIME_LIMITS, stallMs: configuration.MANAGEMENT_STALL_S * 1000 });
  return app;
}

/** Writes Nest's own log lines to our log. Its start messages have level debug. */
function nestLog(log: Logger): LoggerService {
  const text = (message: unknown): string =>
    message instanceof Error ? (message.stack ?? message.message) : String(message);
  return {
    log: (message) => log.debug({ source: 'nest' }, text(message)),
    warn: (message) => log.warn({ source: 'nest' }, text(message)),
    error: (message) => {
      // The process ends with the message of a StartError.
      if (!(message instanceof StartError)) log.error({ source: 'nest' }, text(message));
    },
    fatal: (message) => log.fatal({ source: 'nest' }, text(message)),
  };
}

/** Open connections of all sources that are not approved. They get nothing but 403. */
const UNAPPROVED_CONNECTIONS = 64;

/**
 * Closes connections beyond the limits at once. Each uses a file descriptor, which the process also needs for
 * PostgreSQL, Redis, its files and its other ports. Sources that are not approved leave nearly all to the others.
 */
function limitConnections(
  server: Server,
  configuration: ControlPlaneConfiguration,
  onRefused: () => void,
): void {
  server.maxConnections = configuration.MANAGEMENT_CONNECTIONS;
  server.on('drop', onRefused);
  let unapproved = 0;
  server.on('connection', (socket: Socket) => {
    if (isApproved(socket, configuration)) return;
    if (unapproved >= UNAPPROVED_CONNECTIONS) {
      onRefused();
      socket.destroy();
      return;
    }
    unapproved++;
    socket.once('close', () => unapproved--);
  });
}

/** Whether the connection comes from an approved source, or from a proxy that may have one behind it. */
function isApproved(socket: Socket, configuration: ControlPlaneConfiguration): boolean {
  const { MANAGEMENT_ALLOWED_SOURCES: sources, MANAGEMENT_TRUSTED_PROXIES: proxies } =
    configuration;
  if (sources === undefined) return true;
  const peer = new ClientAddress();
  if (!peer.set(socket.remoteAddress ?? '', 0)) return false;
  return sources.has(peer) || proxies?.has(peer) === true;
}

/** A client that is too slow gets 408. When no request or already a response has begun, its connection is closed. */
export function limitTimes(server: Server, limits: TimeLimits): void {
  server.headersTimeout = limits.headersMs;
  server.requestTimeout = limits.requestMs;
  server.keepAliveTimeout = limits.idleMs;
  server.on('request', (_request, response) => {
    // Until the response begins, the connection is idle while the request is processed.
    response.setTimeout(limits.stallMs, () => {
      if (response.headersSent) response.destroy();
    });
  });
}
