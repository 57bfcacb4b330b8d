import { Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { type Endpoint, endpointOf } from './endpoint.js';
import type { Request } from './http.js';

/** The endpoints of all controllers. */
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

  /** The methods of the endpoints that a path matches. */
  methodsOf(path: string): string[] {
    const segments = withoutSlash(path).split('/');
    const methods = [...this.byPattern].flatMap(([pattern, endpoints]) =>
      matches(pattern.split('/'), segments) ? endpoints.map(({ method }) => method) : [],
    );
    return [...new Set(methods)];
  }
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
