import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Tracer } from '@weir/telemetry';
import type { Observable } from 'rxjs';
import { Endpoints } from '../routing/endpoints.js';
import type { Request, Response } from '../routing/http.js';

const SERVER_ERROR = 500;

/**
 * Begins the span of a call. A trace that the caller has begun goes on: only here, behind the token, is a `traceparent`
 * believed. The names of the attributes are those of OpenTelemetry for HTTP servers. The path is not among them,
 * because it may have a domain or an address; nor is the caller.
 */
@Injectable()
export class TraceInterceptor implements NestInterceptor {
  constructor(
    private readonly tracer: Tracer,
    private readonly endpoints: Endpoints,
  ) {}

  intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = execution.switchToHttp();
    const request = http.getRequest<Request>();
    const route = this.endpoints.patternOf(request);
    if (route !== null) this.begin(request, http.getResponse<Response>(), route);
    return next.handle();
  }

  private begin(request: Request, response: Response, route: string): void {
    const { method, headers, context } = request;
    const { traceparent } = headers;
    const span = this.tracer.begin(
      `${method} ${route}`,
      {
        kind: 'server',
        startedMs: context.startedMs,
        attributes: { 'http.request.method': method, 'http.route': route },
      },
      typeof traceparent === 'string' ? traceparent : undefined,
    );
    context.span = span;
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
  }
}
