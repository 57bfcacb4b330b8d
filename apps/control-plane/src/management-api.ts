import type { LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type NestExpressApplication, ExpressAdapter } from '@nestjs/platform-express';
import type { Logger, TlsIdentity } from '@weir/ops';
import express from 'express';
import { Server as HttpsServer } from 'node:https';
import { AppModule, type SharedServices } from './app.module.js';
import { beginRequest } from './http/pipeline/begin-request.js';
import type { HttpOptions } from './http/pipeline/http-options.js';
import { type ConnectionLimits, limitConnections } from './http/pipeline/limit-connections.js';
import { limitTimes, TIME_LIMITS } from './http/pipeline/time-limits.js';
import { Endpoints } from './http/routing/endpoints.js';
import { closeServer } from './platform/server-lifecycle.js';

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

  /** `app.close()` finishes the requests in progress. Nest would close idle connections with requests on their
   * way, and has no deadline. */
  override close(): Promise<void> {
    return closeServer(this.httpServer);
  }
}

export interface ManagementApiOptions extends HttpOptions, ConnectionLimits {
  /** Null: http. */
  readonly tls: TlsIdentity | null;
}

/** The Nest application of the management API; its server does not listen yet. */
export async function createManagementApi(
  shared: SharedServices,
  options: ManagementApiOptions,
): Promise<NestExpressApplication> {
  const { tls, log } = options;
  const module = AppModule.with(shared, options);
  const app = await NestFactory.create<NestExpressApplication>(module, new ManagementAdapter(), {
    bodyParser: false,
    abortOnError: false,
    // Fixed segments come before parameters, in any order of the controllers.
    routeResolutionStrategy: 'specificity',
    ...(tls && { httpsOptions: tls.serverOptions() }),
    logger: nestLog(log),
  });
  app.use(beginRequest(app.get(Endpoints), options));
  await app.init();
  const server = app.getHttpServer();
  if (server instanceof HttpsServer) tls?.attach(server);
  limitConnections(server, options, () => options.metrics.countRefusedConnection());
  limitTimes(server, { ...TIME_LIMITS, stallMs: options.stallMs });
  return app;
}

/** Writes Nest's own log lines to our log. Its start messages have level debug. */
function nestLog(log: Logger): LoggerService {
  const text = (message: unknown): string =>
    message instanceof Error ? (message.stack ?? message.message) : String(message);
  return {
    log: (message) => log.debug({ source: 'nest' }, text(message)),
    warn: (message) => log.warn({ source: 'nest' }, text(message)),
    error: (message) => log.error({ source: 'nest' }, text(message)),
    fatal: (message) => log.fatal({ source: 'nest' }, text(message)),
  };
}
