import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Observable } from 'rxjs';
import { PROCESS, type Process } from '../../process.js';
import { actAs } from '../../revisions/author.js';
import { Endpoints } from '../routing/endpoints.js';
import type { Request, Response } from '../routing/http.js';

const SERVER_ERROR = 500;

/** Names the author of the changes that a handler makes, and traces the call. */
@Injectable()
export class CallInterceptor implements NestInterceptor {
  constructor(
    private readonly endpoints: Endpoints,
    @Inject(PROCESS) private readonly process: Process,
  ) {}

  intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = execution.switchToHttp();
    const request = http.getRequest<Request>();
    const { id, source, caller } = request.context;
    const route = this.endpoints.patternOf(request);
    if (route !== null) this.trace(request, http.getResponse<Response>(), route);
    // A change without an author fails.
    if (caller === null || route === null) return next.handle();
    const author = {
      origin: 'api',
      token: caller.name,
      source: source?.text ?? null,
      requestId: id,
      method: request.method,
      route,
    } as const;
    // Nest keeps the context of this call for the handler.
    return actAs(author, () => next.handle(), request.context.span);
  }

  /**
   * Begins the span of a call. A trace that the caller has begun goes on: only here, behind the token, is a
   * `traceparent` believed. The names of the attributes are those of OpenTelemetry for HTTP servers. The path is not
   * among them, because it may have a domain or an address; nor is the caller.
   */
  private trace({ method, headers, context }: Request, response: Response, route: string): void {
    const { traceparent } = headers;
    const span = this.process.telemetry?.tracer.begin(
      `${method} ${route}`,
      {
        kind: 'server',
        startedMs: context.startedMs,
        attributes: { 'http.request.method': method, 'http.route': route },
      },
      typeof traceparent === 'string' ? traceparent : undefined,
    );
    if (!span) return;
    context.span = span;
    response.once('close', () => {
      const { statusCode } = response;
      const revision = response.getHeader('x-config-revision');
      span.end({
        attributes: {
          'http.response.status_code': statusCode,
          ...(revision !== undefined && { 'weir.revision': Number(revision) }),
        },
        hasFailed: statusCode >= SERVER_ERROR || !response.writableFinished,
      });
    });
  }
}
