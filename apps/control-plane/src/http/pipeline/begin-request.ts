import { randomUUID } from 'node:crypto';
import type { Endpoints } from '../routing/endpoints.js';
import type { Middleware, Request, Response } from '../routing/http.js';
import { coalesceChunks } from '../../platform/coalesce-chunks.js';
import { clientAddress } from './client-address.js';
import type { HttpOptions } from './http-options.js';
import { repairUrl } from './repair-url.js';

/**
 * The only middleware: it runs before the router, so that every response has an id and a log line, whatever its path
 * and method.
 */
export function beginRequest(
  endpoints: Endpoints,
  { log, metrics, trustedProxies }: Pick<HttpOptions, 'log' | 'metrics' | 'trustedProxies'>,
): Middleware {
  return (request, response, next) => {
    const sent = header(request, 'x-request-id');
    const id = sent !== undefined && /^[\w.-]{1,64}$/.test(sent) ? sent : randomUUID();
    const forwardedFor = header(request, 'x-forwarded-for');
    const source = clientAddress(request.socket.remoteAddress, forwardedFor, trustedProxies);
    const startedMs = performance.now();
    request.context = { id, source, caller: null, startedMs, span: null };
    coalesceChunks(request);
    response.setHeader('X-Request-Id', id);
    response.setHeader('Cache-Control', 'no-store');
    response.once('close', () => {
      const route = endpoints.patternOf(request);
      log.info(describe(request, response, route), 'request');
      metrics.observe(request.method, route ?? 'none', response.statusCode, startedMs);
    });
    repairUrl(request);
    next();
  };
}

/** The log line of a request. It names the route, and never the path, which may contain a domain. */
function describe({ context, method }: Request, response: Response, route: string | null): object {
  const revision = response.getHeader('x-config-revision');
  return {
    request_id: context.id,
    token: context.caller?.name ?? null,
    source: context.source?.text ?? null,
    method,
    route,
    status: response.statusCode,
    ...(revision !== undefined && { revision: Number(revision) }),
    duration_ms: Math.round(performance.now() - context.startedMs),
    ...(response.writableFinished ? {} : { cut_off: true }),
    ...(context.span !== null && { trace_id: context.span.traceId }),
  };
}

/** The value of a header; several values are joined by commas. */
function header(request: Request, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
}
