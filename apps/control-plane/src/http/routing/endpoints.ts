import { Injectable, type OnModuleInit, RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/internal';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { scopeOf } from '../callers/require-scope.js';
import type { Scope } from '../callers/scope.js';
import type { Request } from './http.js';
import {
  NoEndpoint,
  RESPONSE_SHAPE,
  type RequestShape,
  requestShapeOf,
  type ResponseShape,
} from './request-shape.js';

/** An endpoint with what its decorators declare. */
export interface Endpoint {
  readonly method: string;
  /** Path as the contract writes it: `/net/:int_ip`. It names the endpoint in logs, metrics and records. */
  readonly pattern: string;
  readonly request: RequestShape;
  readonly response: ResponseShape;
  readonly scope: Scope;
}

type Handler = () => unknown;

/** The endpoints of all controllers. */
@Injectable()
export class Endpoints implements OnModuleInit {
  /** The patterns by the paths of Express, which have no slash at the end. */
  private readonly patterns = new Map<string, string>();
  private list: readonly Endpoint[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
  ) {}

  /** @throws Error when an endpoint has no `@ApiResponse`. */
  onModuleInit(): void {
    this.list = this.discovery
      .getControllers()
      .flatMap(({ metatype }) => (metatype ? this.discover(metatype as Type) : []));
    for (const { pattern } of this.list) this.patterns.set(pattern.replace(/\/$/, ''), pattern);
  }

  all(): readonly Endpoint[] {
    return this.list;
  }

  /** The pattern of the endpoint that Express has found; null when it has found none. */
  patternOf({ route }: Request): string | null {
    return route === undefined ? null : (this.patterns.get(route.path) ?? null);
  }

  private discover(controller: Type): Endpoint[] {
    if (this.reflector.get(NoEndpoint, controller)) return [];
    const prototype = controller.prototype as Record<string, Handler>;
    return this.scanner
      .getAllMethodNames(prototype)
      .flatMap((name) => prototype[name] ?? [])
      .filter((handler) => Reflect.hasMetadata(METHOD_METADATA, handler))
      .map((handler) => describe(controller, handler, this.reflector));
  }
}

function describe(
  controller: object,
  handler: Parameters<Reflector['get']>[1],
  reflector: Reflector,
): Endpoint {
  const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod];
  const pattern = joinPaths(
    Reflect.getMetadata(PATH_METADATA, controller) as string,
    Reflect.getMetadata(PATH_METADATA, handler) as string,
  );
  const request = requestShapeOf(handler) ?? {};
  const response = Reflect.getMetadata(RESPONSE_SHAPE, handler) as ResponseShape | undefined;
  if (response === undefined) throw new Error(`${method} ${pattern} has no @ApiResponse`);
  const scope = scopeOf(reflector, handler, method);
  return { method, pattern, request, response, scope };
}

/** The path as the contract writes it: collections end with a slash, except those below a profile. */
function joinPaths(controller: string, handler: string): string {
  const path = `/${controller}/${handler}`.replace(/\/{2,}/g, '/');
  return controller.includes(':') ? path.replace(/\/$/, '') : path;
}
