import type { NestExpressApplication } from '@nestjs/platform-express';
import type { CidrSet, Logger } from '@weir/ops';
import type { Tracer } from '@weir/telemetry';
import { randomUUID } from 'node:crypto';
import type { CallLimits } from '../callers/call-limits.js';
import { RequestError } from '../errors/errors.js';
import type { DocsAccess } from '../openapi/docs-access.js';
import { serveDocs } from '../openapi/docs-pages.js';
import type { OpenApiDocument } from '../openapi/document.js';
import type { Next, Request, Response, Middleware } from '../routing/http.js';
import type { RouteTable } from '../routing/route-table.js';
import { authenticate, type AuthenticationOptions } from './authenticate.js';
import { type BodyLimits, streamBody } from './body-stream.js';
import { checkScope } from './check-scope.js';
import { clientAddress } from './client-address.js';
import { HeldBodies } from './held-bodies.js';
import { limitCalls } from './limit-calls.js';
import { nameAuthor } from './name-author.js';
import { parseBody } from './parse-body.js';
import type { RequestMetrics } from './request-metrics.js';
import { traceCalls } from './trace-calls.js';

export interface PipelineOptions extends AuthenticationOptions {
  readonly log: Logger;
  readonly metrics: RequestMetrics;
  /** Null: nothing is traced. */
  readonly tracer: Tracer | null;
  /** Undefined: any source address is approved. */
  readonly allowedSources: CidrSet | undefined;
  readonly trustedProxies: CidrSet | undefined;
  readonly callLimits: CallLimits;
  readonly bodyLimitBytes: number;
  /** Longest time for which a client may send no bytes of a body. */
  readonly stallMs: number;
  readonly routes: RouteTable;
  readonly docs: DocsAccess;
  readonly document: OpenApiDocument;
}

/**
 * A body that is parsed as a whole. The largest list that is accepted (`MAX_ITEMS`) is smaller. Only the body of
 * `POST /init/`, which is streamed, may be larger.
 */
const PARSED_BODY_LIMIT_BYTES = 16 * 2 ** 20;

/** All parsed bodies together, while their requests are served: eight of the largest. */
const PARSED_BODIES_LIMIT_BYTES = 8 * PARSED_BODY_LIMIT_BYTES;

/** A body of this size is never refused for the sake of others. */
const SMALL_BODY_BYTES = 64 * 2 ** 10;

/**
 * Installs the middleware that every request passes before its controller. The order is fixed (decisions §8, Requests).
 */
export function installPipeline(app: NestExpressApplication, options: PipelineOptions): void {
  // First, so that every response has an id and a log line.
  app.use(identify(options));
  // Before the token, so that a source that is not approved learns nothing about tokens.
  app.use(approveSource(options));
  if (options.docs === 'public') app.use(serveDocs(options.document));
  app.use(authenticate(options));
  app.use(limitCalls(options.callLimits));
  if (options.docs === 'token') app.use(serveDocs(options.document));
  // Before the body, so that no body is read for a path that does not exist.
  app.use(findRoute(options.routes));
  app.use(requireJson);
  // Before the body, so that no body is read for a call that the token may not make.
  app.use(checkScope);
  const { bodyLimitBytes, stallMs } = options;
  const limitBytes = Math.min(bodyLimitBytes, PARSED_BODY_LIMIT_BYTES);
  const bodies = new HeldBodies(PARSED_BODIES_LIMIT_BYTES, SMALL_BODY_BYTES);
  app.use(parseBody(isBodyParsed, { limitBytes, stallMs }, bodies));
  app.use(openBody({ limitBytes: bodyLimitBytes, stallMs }));
  if (options.tracer !== null) app.use(traceCalls(options.tracer));
  // Last, because the events of a body that is read would lose it.
  app.use(nameAuthor);
}

function identify({ log, metrics, trustedProxies }: PipelineOptions): Middleware {
  return (request, response, next) => {
    const sent = header(request, 'x-request-id');
    const id = sent !== undefined && /^[\w.-]{1,64}$/.test(sent) ? sent : randomUUID();
    const source = clientAddress(
      request.socket.remoteAddress,
      header(request, 'x-forwarded-for'),
      trustedProxies,
    );
    const startedMs = performance.now();
    request.context = {
      id,
      source,
      caller: null,
      route: null,
      pathParts: {},
      startedMs,
      span: null,
      body: { state: 'absent' },
    };
    response.setHeader('X-Request-Id', id);
    response.setHeader('Cache-Control', 'no-store');
    response.once('close', () => {
      const { route, caller, span } = request.context;
      const revision = response.getHeader('x-config-revision');
      const line = {
        request_id: id,
        token: caller?.name ?? null,
        source: source?.text ?? null,
        method: request.method,
        route: route?.pattern ?? null,
        status: response.statusCode,
        ...(revision !== undefined && { revision: Number(revision) }),
        duration_ms: Math.round(performance.now() - startedMs),
        ...(response.writableFinished ? {} : { cut_off: true }),
        ...(span !== null && { trace_id: span.traceId }),
      };
      log.info(line, 'request');
      metrics.observe(request.method, route?.pattern ?? 'none', response.statusCode, startedMs);
    });
    next();
  };
}

function approveSource({ allowedSources }: PipelineOptions): Middleware {
  return (request, _response, next) => {
    const { source } = request.context;
    if (allowedSources && (source === null || !allowedSources.has(source.address))) {
      throw new RequestError('sourceNotApproved');
    }
    next();
  };
}

function findRoute(routes: RouteTable): Middleware {
  return (request, response, next) => {
    const found = routes.match(request.path);
    if (found === null) throw new RequestError('pathNotFound');
    if (request.method === 'OPTIONS') {
      response.status(204).setHeader('Allow', found.allow).end();
      return;
    }
    const target = found.route(request.method);
    if (target === null) {
      throw new RequestError('methodNotAllowed', undefined, { Allow: found.allow });
    }
    request.context.route = target.route;
    request.context.pathParts = target.parts;
    if (Object.values(target.parts).includes(null)) makeRoutable(request);
    next();
  };
}

/**
 * The router of Express rejects invalid percent-encoding. It is removed here, and reported later together with all
 * faults.
 */
function makeRoutable(request: Request): void {
  request.url = request.url.replaceAll('%', '-');
}

function requireJson(request: Request, _response: Response, next: Next): void {
  const type = header(request, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (hasBodyToRead(request) && type !== 'application/json') throw new RequestError('notJson');
  next();
}

/** Whether the request has a body and its route reads it. */
function hasBodyToRead({ context, headers }: Request): boolean {
  const sent =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return sent && context.route !== null && context.route.body !== 'none';
}

function isBodyParsed(request: Request): boolean {
  return hasBodyToRead(request) && request.context.route?.body === 'parsed';
}

/** Passes a body that is too large for memory to its controller as a stream. */
function openBody(limits: BodyLimits): Middleware {
  return (request, _response, next) => {
    if (hasBodyToRead(request) && request.context.route?.body === 'streamed') {
      request.context.body = { state: 'streamed', bytes: streamBody(request, limits) };
    }
    next();
  };
}

/** The value of a header; several values are joined by commas. */
function header(request: Request, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
}
