import {
  applyDecorators,
  Delete,
  Get,
  HttpCode,
  Injectable,
  type OnModuleInit,
  Patch,
  Post,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import type { Listing, WithRevision } from '../../revisions/with-revision.js';
import type { Scope } from '../callers/scope.js';
import { type DtoClass, Example, type Json } from '../validation/dto.js';
import { read } from '../validation/reader.js';
import type { Request } from './http.js';

/** What a handler returns: a DTO or an array of DTOs, and the revision of the configuration. */
export type Answer<T> = Promise<WithRevision<Json<T>>>;
/** The same for a list that is sent while it is read from the database. */
export type Listed<T> = Promise<WithRevision<Listing<Json<T>>>>;

/** What an endpoint takes and answers. Routing, validation and the OpenAPI document are made from it. */
export interface EndpointShape {
  /** Class of the path parameters; undefined: the path has none. */
  readonly path?: DtoClass;
  /** Class of the query parameters, each of which is text; undefined: the query is ignored. */
  readonly query?: DtoClass;
  /** Class of the body, in brackets for an array; undefined: the body is not read. */
  readonly body?: DtoClass | readonly [DtoClass];
  /** Class of a body that the controller reads as a stream: `@Body()` is an iterable of its bytes. */
  readonly streamed?: DtoClass;
  /** Body fields that must equal a path parameter: `{ profile_id: ['profile', 'id'] }` (decisions §1). */
  readonly repeats?: Readonly<Record<string, readonly string[]>>;
  /** One line for people. */
  readonly summary: string;
  /** What people must know besides: one sentence or more. */
  readonly description?: string;
  /** Class of the response body, in brackets for an array; undefined: the response has no body. */
  readonly answer?: DtoClass | readonly [DtoClass];
  /** It reads a list from the database while the client reads the response, and holds a connection meanwhile. */
  readonly isListing?: true;
  /** It also answers as a stream of events, to clients that accept `text/event-stream`. */
  readonly streams?: true;
  /** Headers of its success that others do not have, as OpenAPI describes them. */
  readonly headers?: Readonly<Record<string, object>>;
  /** It is answered without the database. */
  readonly isLocal?: true;
  /** Errors besides those that any request may have. */
  readonly errors?: readonly (404 | 409)[];
  /** What the token must include, where it is not `read` for GET and `write` for any other method. */
  readonly scope?: Scope;
  /** Class of the response to the same call with `dry_run=true`. It changes nothing, so scope `read` is enough. */
  readonly dryRun?: DtoClass;
  /** Where the OpenAPI document lists it; undefined: under the first segment of its path. */
  readonly tag?: string;
}

const METHODS = { GET: Get, POST: Post, PATCH: Patch, DELETE: Delete };

export interface Endpoint extends EndpointShape {
  readonly method: keyof typeof METHODS;
  /** Path as the contract writes it: `/net/:int_ip`. It names the endpoint in logs, metrics and records. */
  readonly pattern: string;
  readonly status: 200 | 201 | 204;
  readonly scope: Scope;
}

const ENDPOINT = 'weir:endpoint';

/**
 * Declares a handler as an endpoint. `@Param()`, `@Query()` and `@Body()` give instances of the declared classes.
 * @param place method and path, as the contract writes them: `GET /net/:int_ip`
 */
export function ApiEndpoint(
  place: `${Endpoint['method']} /${string}`,
  shape: EndpointShape,
): MethodDecorator {
  const [method, pattern] = place.split(' ') as [Endpoint['method'], string];
  const status = shape.answer === undefined ? 204 : method === 'POST' ? 201 : 200;
  const scope = method === 'GET' ? 'read' : 'write';
  const endpoint: Endpoint = { method, pattern, status, scope, ...shape };
  return applyDecorators(
    METHODS[method](pattern),
    HttpCode(status),
    SetMetadata(ENDPOINT, endpoint),
  );
}

/** The tag of what decisions §12 adds to the contract. */
export const READING = 'Reading what is';

@Example<NoParameters>({})
class NoParameters {}

/** Declares an endpoint of decisions §12. It refuses unknown query parameters. */
export function ReadingEndpoint(
  place: Parameters<typeof ApiEndpoint>[0],
  shape: Omit<EndpointShape, 'tag'>,
): MethodDecorator {
  return ApiEndpoint(place, { query: NoParameters, ...shape, tag: READING });
}

/** The endpoint of a handler; undefined: it is no part of the API. */
export function endpointOf(handler: object): Endpoint | undefined {
  return Reflect.getMetadata(ENDPOINT, handler) as Endpoint | undefined;
}

/** Declares a controller that needs no token: of `docs` when `MANAGEMENT_DOCS` is `public`, of the `console` always. */
export const Pages = Reflector.createDecorator<'docs' | 'console'>();

@Injectable()
export class Endpoints implements OnModuleInit {
  /** By their patterns without the slash at the end, which makes no difference to a router. */
  private readonly byPattern = new Map<string, readonly Endpoint[]>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  onModuleInit(): void {
    const all = this.discovery.getControllers().flatMap(({ metatype }) => {
      const prototype = (metatype as Type).prototype as Record<string, object>;
      const names = this.scanner.getAllMethodNames(prototype);
      return names.flatMap((name) => endpointOf(prototype[name]) ?? []);
    });
    for (const [pattern, endpoints] of Map.groupBy(all, (one) => withoutSlash(one.pattern))) {
      this.byPattern.set(pattern, endpoints);
    }
  }

  all(): readonly Endpoint[] {
    return [...this.byPattern.values()].flat();
  }

  /** The pattern of the endpoint that Express has found; null when it has found none. */
  patternOf({ route }: Request): string | null {
    if (route === undefined) return null;
    return this.byPattern.get(withoutSlash(route.path))?.[0]?.pattern ?? null;
  }

  /**
   * The methods of the endpoints that a path matches: of those that take its parameters, if there are any.
   * @param path whose segments can be decoded
   */
  methodsOf(path: string): string[] {
    const segments = withoutSlash(path).split('/');
    const matching = [...this.byPattern].flatMap(([pattern, endpoints]) =>
      matches(pattern.split('/'), segments) ? endpoints : [],
    );
    const valid = matching.filter((endpoint) => hasValidPath(endpoint, segments));
    const methods = (valid.length > 0 ? valid : matching).map(({ method }) => method);
    return [...new Set(methods)];
  }
}

function hasValidPath({ pattern, path }: Endpoint, segments: readonly string[]): boolean {
  if (path === undefined) return true;
  const parameters = withoutSlash(pattern)
    .split('/')
    .flatMap((part, i) =>
      part.startsWith(':') ? [[part.slice(1), decodeURIComponent(segments[i])]] : [],
    );
  return read(path, Object.fromEntries(parameters)).faults.length === 0;
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, '');
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((part, i) =>
    part.startsWith(':') ? segments[i] !== '' : part === segments[i],
  );
}
