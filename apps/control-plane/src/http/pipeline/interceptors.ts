import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
  StreamableFile,
} from '@nestjs/common';
import { Readable } from 'node:stream';
import { map, type Observable } from 'rxjs';
import { PROCESS, type Process } from '../../process.js';
import { actAs } from '../../revisions/change-record.js';
import { Listing, WithRevision } from '../../revisions/with-revision.js';
import { RequestError } from '../errors/errors.js';
import { type Endpoint, endpointOf, Endpoints } from '../routing/endpoint.js';
import type { Request, Response } from '../routing/http.js';
import { type BodyLimits, hasBody, HeldBodies, streamBody } from './body-stream.js';
import { NO_BODY, parseBody, type SentBody } from './parse-body.js';
import { readRequest, searchOf } from './read-request.js';

const SERVER_ERROR = 500;

/**
 * Traces a call, names the author of its changes, and sends a `WithRevision`: the revision and propagation as headers
 * (decisions §1), a listing as a stream.
 */
@Injectable()
export class CallInterceptor implements NestInterceptor {
  constructor(
    private readonly endpoints: Endpoints,
    @Inject(PROCESS) private readonly process: Process,
  ) {}

  intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = execution.switchToHttp().getRequest<Request>();
    const response = execution.switchToHttp().getResponse<Response>();
    const route = this.endpoints.patternOf(request);
    if (route !== null) this.trace(request, response, route);
    const handle = (): Observable<unknown> =>
      next.handle().pipe(map((answer: unknown) => unwrap(answer, response)));
    const { id: requestId, source, caller, span } = request.context;
    // A change without an author fails.
    if (caller === null || route === null) return handle();
    const { method } = request;
    const call = { token: caller.name, source: source?.text ?? null, requestId, method, route };
    // Nest keeps the context of this call for the handler.
    return actAs({ origin: 'api', ...call }, handle, span);
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
 * faults. It is no pipe, because a pipe gets one parameter at a time. It comes after the guard: nothing is read for a
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
      check(request, endpoint, { fault: NO_BODY });
      return next.handle();
    }
    requireJson(request);
    if (endpoint.streamed !== undefined) {
      check(request, endpoint, { value: streamBody(request, this.streamed) });
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

const JSON_TYPE = 'application/json; charset=utf-8';

function unwrap(answer: unknown, response: Response): unknown {
  if (!(answer instanceof WithRevision)) return answer;
  response.setHeader('X-Config-Revision', String(answer.revision));
  if (answer.applied !== null) {
    const { applied, total } = answer.applied;
    response.setHeader('X-Config-Applied', `${applied}/${total}`);
  }
  const result: unknown = answer.result;
  return result instanceof Listing ? toStream(result, response) : result;
}

function toStream(listing: Listing<unknown>, response: Response): StreamableFile {
  const stream = Readable.from(listing.json(), { objectMode: false });
  stream.once('close', () => void listing.close());
  // It closes the stream too. The client must not take the part for the whole.
  listing.breakOff = () => response.destroy();
  return new StreamableFile(stream, { type: JSON_TYPE });
}
