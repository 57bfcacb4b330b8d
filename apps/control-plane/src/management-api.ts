import type { LoggerService } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, NestFactory, Reflector } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Logger, TlsIdentity } from '@weir/ops';
import type { Server } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import { AppModule, type SharedServices } from './app.module.js';
import { ErrorFilter } from './http/errors/error-filter.js';
import { createDocument } from './http/openapi/document.js';
import { installPipeline, type PipelineOptions } from './http/pipeline/pipeline.js';
import { type ConnectionLimits, limitConnections } from './http/pipeline/limit-connections.js';
import { RevisionInterceptor } from './http/pipeline/revision-interceptor.js';
import { limitTimes, TIME_LIMITS } from './http/pipeline/time-limits.js';
import { discoverEndpoints } from './http/routing/discover-endpoints.js';
import { RequestShapeInterceptor } from './http/routing/request-shape.js';
import { RouteTable } from './http/routing/route-table.js';

export interface ManagementApiOptions
  extends Omit<PipelineOptions, 'routes' | 'document'>, ConnectionLimits {
  /** Null: http. */
  readonly tls: TlsIdentity | null;
}

/** The server of the management API; it does not listen yet. */
export async function createManagementApi(
  shared: SharedServices,
  options: ManagementApiOptions,
): Promise<Server> {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- Nest types them as a class
  const app = await NestFactory.create<NestExpressApplication>(AppModule.with(shared), {
    bodyParser: false,
    abortOnError: false,
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- as above
    ...(options.tls && { httpsOptions: options.tls.serverOptions() }),
    logger: nestLog(options.log),
  });
  app.disable('x-powered-by');
  // Responses are never cached, so they need no ETag.
  app.disable('etag');
  const endpoints = discoverEndpoints(
    app.get(DiscoveryService),
    app.get(MetadataScanner),
    app.get(Reflector),
  );
  const document = createDocument(endpoints);
  installPipeline(app, { ...options, routes: new RouteTable(endpoints), document });
  app.useGlobalFilters(new ErrorFilter(options.log));
  app.useGlobalInterceptors(
    new RequestShapeInterceptor(app.get(Reflector)),
    new RevisionInterceptor(),
  );
  await app.init();
  const server: Server = app.getHttpServer();
  if (server instanceof HttpsServer) options.tls?.attach(server);
  limitConnections(server, options, () => options.metrics.countRefusedConnection());
  limitTimes(server, { ...TIME_LIMITS, stallMs: options.stallMs });
  return server;
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
