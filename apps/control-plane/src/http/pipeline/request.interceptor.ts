import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Observable } from 'rxjs';
import { PROCESS, type Process } from '../../process.js';
import { RequestError } from '../errors/errors.js';
import { type Endpoint, endpointOf } from '../routing/endpoint.js';
import type { Request, Response } from '../routing/http.js';
import { type BodyLimits, hasBody, streamBody } from './body-stream.js';
import { HeldBodies } from './held-bodies.js';
import { parseBody } from './parse-body.js';
import { readRequest, searchOf, type SentBody } from './read-request.js';

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
 * Gives `@Param()`, `@Query()` and `@Body()` instances of the classes that `@ApiEndpoint` declares, or throws all their
 * faults. It is no pipe, because a pipe gets one parameter at a time. It comes after the guards: nothing is read for a
 * call that is refused.
 */
@Injectable()
export class RequestInterceptor implements NestInterceptor {
  private readonly parsed: BodyLimits;
  private readonly streamed: BodyLimits;
  private readonly bodies = new HeldBodies(PARSED_BODIES_LIMIT_BYTES, SMALL_BODY_BYTES);

  constructor(@Inject(PROCESS) { configuration }: Process) {
    const { MANAGEMENT_BODY_LIMIT: limitBytes, MANAGEMENT_STALL_S } = configuration;
    const stallMs = MANAGEMENT_STALL_S * 1000;
    this.parsed = { limitBytes: Math.min(limitBytes, PARSED_BODY_LIMIT_BYTES), stallMs };
    this.streamed = { limitBytes, stallMs };
  }

  intercept(
    execution: ExecutionContext,
    next: CallHandler,
  ): Observable<unknown> | Promise<Observable<unknown>> {
    const endpoint = endpointOf(execution.getHandler());
    if (endpoint === undefined) return next.handle();
    const http = execution.switchToHttp();
    const request = http.getRequest<Request>();
    const isRead = endpoint.body !== undefined || endpoint.streamed !== undefined;
    if (!isRead || !hasBody(request)) {
      check(request, endpoint, { state: 'absent' });
      return next.handle();
    }
    requireJson(request);
    if (endpoint.streamed !== undefined) {
      check(request, endpoint, { state: 'streamed', bytes: streamBody(request, this.streamed) });
      return next.handle();
    }
    const held = this.bodies.open(streamBody(request, this.parsed));
    http.getResponse<Response>().once('close', held.release);
    return parseBody(held.body).then((body) => {
      check(request, endpoint, body);
      return next.handle();
    });
  }
}

/** @throws InvalidRequestError with the faults of path, query and body. */
function check(request: Request, endpoint: Endpoint, sent: SentBody): void {
  const params = request.params as Readonly<Record<string, string>>;
  const { path, query, body } = readRequest(endpoint, params, searchOf(request), sent);
  request.params = path;
  // Express has only a getter.
  Object.defineProperty(request, 'query', { value: query });
  request.body = body;
}

function requireJson({ headers }: Request): void {
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new RequestError('notJson');
}
