import type { LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type NestExpressApplication, ExpressAdapter } from '@nestjs/platform-express';
import { type Logger, StartError } from '@weir/ops';
import express from 'express';
import { Server as HttpsServer } from 'node:https';
import { Registry } from 'prom-client';
import { AppModule } from './app.module.js';
import type { Process } from './core.module.js';
import { registerCallerMetrics, FailedAttempts } from './http/callers/failed-attempts.js';
import { beginRequest } from './http/pipeline/begin-request.js';
import type { HttpOptions } from './http/pipeline/http-options.js';
import { limitConnections } from './http/pipeline/limit-connections.js';
import { RequestMetrics } from './http/pipeline/request-metrics.js';
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

  /** Nest would close idle connections with requests on their way, and has no deadline. */
  override close(): Promise<void> {
    return closeServer(this.httpServer);
  }
}

/** The Nest application, whose server is that of the management API. `init` starts it. */
export async function createManagementApi(process: Process): Promise<NestExpressApplication> {
  const { tls, log, configuration } = process;
  const registry = new Registry();
  const options = httpOptions(process, registry);
  const module = AppModule.with(process, registry, options);
  const app = await NestFactory.create<NestExpressApplication>(module, new ManagementAdapter(), {
    bodyParser: false,
    abortOnError: false,
    // Fixed segments come before parameters, in any order of the controllers.
    routeResolutionStrategy: 'specificity',
    ...(tls && { httpsOptions: tls.serverOptions() }),
    logger: nestLog(log),
  });
  app.use(beginRequest(app.get(Endpoints), options));
  const server = app.getHttpServer();
  if (server instanceof HttpsServer) tls?.attach(server);
  limitConnections(server, { ...options, connections: configuration.MANAGEMENT_CONNECTIONS }, () =>
    options.metrics.countRefusedConnection(),
  );
  limitTimes(server, { ...TIME_LIMITS, stallMs: options.stallMs });
  return app;
}

function httpOptions(process: Process, registry: Registry): HttpOptions {
  const { configuration, log, telemetry, tokens } = process;
  const attempts = new FailedAttempts();
  registerCallerMetrics(registry, attempts, tokens.file);
  return {
    log,
    metrics: new RequestMetrics(registry),
    tracer: telemetry?.tracer ?? null,
    allowedSources: configuration.MANAGEMENT_ALLOWED_SOURCES,
    trustedProxies: configuration.MANAGEMENT_TRUSTED_PROXIES,
    tokens: () => tokens.all(),
    attempts,
    callLimits: {
      perSecond: configuration.MANAGEMENT_CALLS_PER_SECOND,
      atOnce: configuration.MANAGEMENT_CALLS_AT_ONCE,
      listsAtOnce: configuration.MANAGEMENT_LISTS_AT_ONCE,
    },
    bodyLimitBytes: configuration.MANAGEMENT_BODY_LIMIT,
    stallMs: configuration.MANAGEMENT_STALL_S * 1000,
    docs: configuration.MANAGEMENT_DOCS,
    console: configuration.MANAGEMENT_CONSOLE,
    timeZone: configuration.SCHEDULE_TIMEZONE,
  };
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
