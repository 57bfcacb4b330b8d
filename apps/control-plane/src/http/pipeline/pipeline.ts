import type { NestExpressApplication } from '@nestjs/platform-express';
import type { CidrSet, Logger } from '@weir/ops';
import { randomUUID } from 'node:crypto';
import { RequestError } from '../errors/errors.js';
import type { DocsAccess } from '../openapi/docs-access.js';
import { serveDocs } from '../openapi/docs-pages.js';
import type { OpenApiDocument } from '../openapi/document.js';
import type { BearerTokens } from './bearer-tokens.js';
import { streamBody } from './body-stream.js';
import { clientAddress } from './client-address.js';
import type { Next, Request, Response, Step } from '../routing/http.js';
import { parseBody } from './parse-body.js';
import type { RequestMetrics } from './request-metrics.js';
import type { RouteTable } from '../routing/route-table.js';

export interface PipelineOptions {
  readonly log: Logger;
  readonly metrics: RequestMetrics;
  /** Undefined: any source is approved. */
  readonly allowedSources: CidrSet | undefined;
  readonly trustedProxies: CidrSet | undefined;
  readonly tokens: BearerTokens;
  readonly bodyLimitBytes: number;
  readonly routes: RouteTable;
  readonly docs: DocsAccess;
  readonly document: OpenApiDocument;
}

/** What every request passes before its controller sees it. The order is the contract's (decisions §8, Requests). */
export function installPipeline(app: NestExpressApplication, options: PipelineOptions): void {
  // First of all, so that every answer, whoever gives it, has an id and a line in the log.
  app.use(identify(options));
  // Before the token: a source that is not approved learns nothing.
  app.use(approveSource(options));
  if (options.docs === 'public') app.use(serveDocs(options.document));
  app.use(authenticate(options.tokens));
  if (options.docs === 'token') app.use(serveDocs(options.document));
  // Before the body: nobody uploads to a path that is not there.
  app.use(findRoute(options.routes));
  app.use(requireJson);
  // The limit holds for what the body decompresses to.
  app.useBodyParser('raw', { limit: options.bodyLimitBytes, type: isBodyParsed });
  app.use(parseBody);
  app.use(openBody(options.bodyLimitBytes));
}

function identify({ log, metrics }: PipelineOptions): Step {
  return (request, response, next) => {
    const offered = header(request, 'x-request-id');
    const id = offered !== undefined && /^[\w.-]{1,64}$/.test(offered) ? offered : randomUUID();
    request.context = { id, route: null, pathParts: {}, body: { state: 'absent' } };
    response.setHeader('X-Request-Id', id);
    response.setHeader('Cache-Control', 'no-store');
    const startedMs = performance.now();
    response.once('close', () => {
      const { route } = request.context;
      const line = {
        request_id: id,
        method: request.method,
        route: route?.pattern ?? null,
        status: response.statusCode,
        duration_ms: Math.round(performance.now() - startedMs),
        ...(response.writableFinished ? {} : { cut_off: true }),
      };
      log.info(line, 'request');
      metrics.observe(request.method, route?.pattern ?? 'none', response.statusCode, startedMs);
    });
    next();
  };
}

function approveSource({ allowedSources, trustedProxies }: PipelineOptions): Step {
  return (request, _response, next) => {
    const address = clientAddress(
      request.socket.remoteAddress,
      header(request, 'x-forwarded-for'),
      trustedProxies,
    );
    if (allowedSources && (address === null || !allowedSources.has(address))) {
      throw new RequestError('sourceNotApproved');
    }
    next();
  };
}

function authenticate(tokens: BearerTokens): Step {
  return (request, _response, next) => {
    if (!tokens.accepts(request.headers.authorization)) {
      throw new RequestError('notAuthenticated', undefined, { 'WWW-Authenticate': 'Bearer' });
    }
    next();
  };
}

function findRoute(routes: RouteTable): Step {
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
 * Broken escapes are a fault to report with all others, but the router would stop at them: it gets the path without.
 */
function makeRoutable(request: Request): void {
  request.url = request.url.replaceAll('%', '-');
}

function requireJson(request: Request, _response: Response, next: Next): void {
  const type = header(request, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (isBodyWanted(request) && type !== 'application/json') throw new RequestError('notJson');
  next();
}

/** Whether the request has a body that its route reads. */
function isBodyWanted({ context, headers }: Request): boolean {
  const sent =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return sent && context.route !== null && context.route.body !== 'none';
}

function isBodyParsed(incoming: unknown): boolean {
  const request = incoming as Request;
  return isBodyWanted(request) && request.context.route?.body === 'parsed';
}

/** A body that is too long to hold goes to its controller as it comes in. */
function openBody(limitBytes: number): Step {
  return (request, _response, next) => {
    if (isBodyWanted(request) && request.context.route?.body === 'streamed') {
      request.context.body = { state: 'streamed', bytes: streamBody(request, limitBytes) };
    }
    next();
  };
}

/** A header that may come more than once: all of it. */
function header(request: Request, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
}
