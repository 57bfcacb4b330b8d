import type { LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { type Logger, StartError } from '@weir/ops';
import express from 'express';
import { Server as HttpsServer } from 'node:https';
import { Registry } from 'prom-client';
import { AppModule } from './app.module.js';
import { beginRequest, RequestMetrics } from './http/pipeline/begin-request.js';
import { limitConnections, limitTimes, TIME_LIMITS } from './http/pipeline/connection-limits.js';
import { Endpoints } from './http/routing/endpoint.js';
import { closeServer } from './platform/server-lifecycle.js';
import type { Process } from './process.js';

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
