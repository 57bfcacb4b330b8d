/** One endpoint. */
export interface Route {
  readonly method: string;
  /** `/net/:int_ip` */
  readonly pattern: string;
}

/** Path parameters by name, percent-decoded; null for invalid percent-encoding. */
export type PathParts = Readonly<Record<string, string | null>>;

/** A path that matches at least one route. */
export interface PathMatch {
  /** Methods of the path, HEAD and OPTIONS included, for `Allow`. */
  readonly allow: string;
  /** The route for a method; null when there is none. HEAD uses the route of GET. */
  route(method: string): { readonly route: Route; readonly parts: PathParts } | null;
}

interface Entry {
  readonly route: Route;
  /** `:name` is a parameter; any other segment must be equal. */
  readonly segments: readonly string[];
}

/** Finds the endpoint of a path in the OpenAPI document. */
export class RouteTable {
  /** By the number of segments. */
  private readonly entries: ReadonlyMap<number, readonly Entry[]>;

  constructor(routes: readonly Route[]) {
    const entries = routes.map((route) => ({ route, segments: split(route.pattern) }));
    // Fixed segments have priority over parameters, in any order of the controllers.
    entries.sort((a, b) => countParts(a) - countParts(b));
    this.entries = Map.groupBy(entries, ({ segments }) => segments.length);
  }

  /** @param path as requested, without the query and not decoded. A trailing slash makes no difference. */
  match(path: string): PathMatch | null {
    const segments = split(path);
    const candidates = this.entries.get(segments.length) ?? [];
    const found = candidates.filter((entry) => fits(entry.segments, segments));
    if (found.length === 0) return null;
    const methods = new Set(found.map(({ route }) => route.method));
    if (methods.has('GET')) methods.add('HEAD');
    return {
      allow: [...methods, 'OPTIONS'].join(', '),
      route: (method) => {
        const routed = method === 'HEAD' ? 'GET' : method;
        const entry = found.find(({ route }) => route.method === routed);
        return entry ? { route: entry.route, parts: partsOf(entry.segments, segments) } : null;
      },
    };
  }
}

function split(path: string): string[] {
  return path.replace(/\/$/, '').split('/').slice(1);
}

function isPart(segment: string): boolean {
  return segment.startsWith(':');
}

function countParts({ segments }: Entry): number {
  return segments.filter(isPart).length;
}

/** @param segments as many as in the pattern. */
function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  return pattern.every((segment, i) =>
    isPart(segment) ? segments[i] !== '' : segment === segments[i],
  );
}

function partsOf(pattern: readonly string[], segments: readonly string[]): PathParts {
  const parts = pattern.flatMap((segment, i) =>
    isPart(segment) ? [[segment.slice(1), decode(segments[i])]] : [],
  );
  return Object.fromEntries(parts) as PathParts;
}

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
