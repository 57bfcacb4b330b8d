import type { Tracer } from '@weir/telemetry';
import type { Middleware } from '../routing/http.js';

const SERVER_ERROR = 500;

/**
 * Begins the span of a call. A trace that the caller has begun goes on: only here, behind the token, is a `traceparent`
 * believed. The names of the attributes are those of OpenTelemetry for HTTP servers. The path is not among them,
 * because it may have a domain or an address; nor is the caller.
 */
export function traceCalls(tracer: Tracer): Middleware {
  return (request, response, next) => {
    const { route, startedMs } = request.context;
    if (route === null) throw new Error('the route must be found first');
    const attributes = { 'http.request.method': request.method, 'http.route': route.pattern };
    const { traceparent } = request.headers;
    const span = tracer.begin(
      `${route.method} ${route.pattern}`,
      { kind: 'server', startedMs, attributes },
      typeof traceparent === 'string' ? traceparent : undefined,
    );
    request.context.span = span;
    response.once('close', () => {
      const { statusCode } = response;
      const revision = response.getHeader('x-config-revision');
      span?.end({
        attributes: {
          'http.response.status_code': statusCode,
          ...(revision !== undefined && { 'weir.revision': Number(revision) }),
        },
        hasFailed: statusCode >= SERVER_ERROR || !response.writableFinished,
      });
    });
    next();
  };
}
