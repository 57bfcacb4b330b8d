import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/internal';
import type { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { scopeOf } from '../callers/require-scope.js';
import {
  RESPONSE_SHAPE,
  type ResponseShape,
  type RequestShape,
  REQUEST_SHAPE,
} from './request-shape.js';
import type { BodyKind, Route } from './route-table.js';

/** An endpoint with what its decorators declare. */
export interface Endpoint extends Route {
  readonly request: RequestShape;
  readonly response: ResponseShape;
}

type Handler = () => unknown;

/** The endpoints of all controllers. @throws Error when one has no `@ApiResponse`. */
export function discoverEndpoints(
  discovery: DiscoveryService,
  scanner: MetadataScanner,
  reflector: Reflector,
): Endpoint[] {
  const endpoints: Endpoint[] = [];
  for (const { metatype } of discovery.getControllers()) {
    if (typeof metatype !== 'function') continue;
    const prototype = metatype.prototype as Record<string, Handler>;
    for (const name of scanner.getAllMethodNames(prototype)) {
      const handler = prototype[name];
      if (handler === undefined || !Reflect.hasMetadata(METHOD_METADATA, handler)) continue;
      endpoints.push(describe(metatype, handler, reflector));
    }
  }
  return endpoints;
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
  const request = (Reflect.getMetadata(REQUEST_SHAPE, handler) as RequestShape | undefined) ?? {};
  const response = Reflect.getMetadata(RESPONSE_SHAPE, handler) as ResponseShape | undefined;
  if (response === undefined) throw new Error(`${method} ${pattern} has no @ApiResponse`);
  const scope = scopeOf(reflector, handler, method);
  return { method, pattern, body: bodyKind(request), request, response, scope };
}

function bodyKind({ body, streamed }: RequestShape): BodyKind {
  if (streamed) return 'streamed';
  return body === undefined ? 'none' : 'parsed';
}

/** The path as the contract writes it: collections end with a slash, except those below a profile. */
function joinPaths(controller: string, handler: string): string {
  const path = `/${controller}/${handler}`.replace(/\/{2,}/g, '/');
  return controller.includes(':') ? path.replace(/\/$/, '') : path;
}
