/** What becomes of a request's body: ignored, read and parsed, or handed on as it comes in. */
export type BodyKind = 'none' | 'parsed' | 'streamed';

/** One endpoint. */
export interface Route {
  readonly method: string;
  /** Path as the controller writes it: `/net/:int_ip`. The name of the route in logs and metrics. */
  readonly pattern: string;
  readonly body: BodyKind;
}

/** Parts of a path by name, percent-decoded; null where the escapes are broken. */
export type PathParts = Readonly<Record<string, string | null>>;

/** A path that some route has. */
export interface PathMatch {
  /** Methods of the path, HEAD and OPTIONS included, for `Allow`. */
  readonly allow: string;
  /** The route of a method, or null when the path has none for it. HEAD is answered as GET. */
  route(method: string): { readonly route: Route; readonly parts: PathParts } | null;
}

interface Entry {
  readonly route: Route;
  /** A name after a colon is a part; anything else stands for itself. */
  readonly segments: readonly string[];
}

/**
 * Every endpoint by path. Known before a request is parsed any further, so that an unknown path is 404 and a wrong
 * method 405 before the body is looked at, and so that logs name the route and never the path, which may hold a domain.
 */
export class RouteTable {
  private readonly entries: readonly Entry[];

  constructor(routes: readonly Route[]) {
    const entries = routes.map((route) => ({ route, segments: split(route.pattern) }));
    // Fixed segments win over parts, whatever the order of the controllers.
    this.entries = entries.sort((a, b) => countParts(a) - countParts(b));
  }

  /** @param path as requested, without query, escapes untouched; a trailing slash makes no difference. */
  match(path: string): PathMatch | null {
    const segments = split(path);
    const found = this.entries.filter((entry) => fits(entry.segments, segments));
    if (found.length === 0) return null;
    const methods = new Set(found.map(({ route }) => route.method));
    if (methods.has('GET')) methods.add('HEAD');
    return {
      allow: [...methods, 'OPTIONS'].join(', '),
      route: (method) => {
        const wanted = method === 'HEAD' ? 'GET' : method;
        const entry = found.find(({ route }) => route.method === wanted);
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

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((segment, i) => (isPart(segment) ? segments[i] !== '' : segment === segments[i]))
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
