import { ClientAddress } from '@weir/clients';
import type { CidrSet } from '@weir/ops';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { Process } from '../../process.js';
import type { Endpoints } from '../routing/endpoint.js';
import type { Request, RequestSource, Response } from '../routing/http.js';

/** The media type of a stream of events. */
export const EVENTS = 'text/event-stream';

/**
 * The only middleware: it runs before the router, so that every response has an id and a log line, whatever its path
 * and method.
 */
export function beginRequest(
  endpoints: Endpoints,
  metrics: RequestMetrics,
  { log, configuration }: Process,
): (request: Request, response: Response, next: () => void) => void {
  return (request, response, next) => {
    const sent = request.headers['x-request-id']?.toString();
    const id = sent !== undefined && /^[\w.-]{1,64}$/.test(sent) ? sent : randomUUID();
    const forwardedFor = request.headers['x-forwarded-for']?.toString();
    const source = clientAddress(
      request.socket.remoteAddress,
      forwardedFor,
      configuration.MANAGEMENT_TRUSTED_PROXIES,
    );
    const startedMs = performance.now();
    request.context = { id, source, caller: null, startedMs, span: null };
    coalesceChunks(request);
    response.setHeader('X-Request-Id', id);
    response.setHeader('Cache-Control', 'no-store');
    response.once('close', () => {
      const route = endpoints.patternOf(request);
      log.info(describe(request, response, route), 'request');
      const isStream = response.getHeader('content-type') === EVENTS;
      const { method } = request;
      metrics.observe(method, route ?? 'none', response.statusCode, isStream ? null : startedMs);
    });
    repairUrl(request);
    const coding = request.headers['transfer-encoding'] ?? 'chunked';
    if (coding.toLowerCase() === 'chunked') return next();
    // Node itself refuses, in the same way, what does not end with chunked (RFC 9112 §6.1).
    response.writeHead(400, { Connection: 'close' }).end();
  };
}

/** The log line of a request. It names the route, and never the path, which may contain a domain. */
function describe({ context, method }: Request, response: Response, route: string | null): object {
  const revision = response.getHeader('x-config-revision');
  return {
    request_id: context.id,
    token: context.caller?.name ?? null,
    source: context.source?.text ?? null,
    method,
    route,
    status: response.statusCode,
    ...(revision !== undefined && { revision: Number(revision) }),
    duration_ms: Math.round(performance.now() - context.startedMs),
    ...(response.writableFinished ? {} : { cut_off: true }),
    ...(context.span !== null && { trace_id: context.span.traceId }),
  };
}

/**
 * The address that a request came from: the peer of the connection, or, when that is a trusted proxy, the rightmost
 * entry of `X-Forwarded-For` that is not one (decisions §8). When all entries are trusted, it is the leftmost.
 * @returns null when that entry is not an IP address: no list approves such a source.
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trustedProxies: CidrSet | undefined,
): RequestSource | null {
  const client = new ClientAddress();
  if (peer === undefined || !client.set(peer, 0)) return null;
  let text = peer;
  if (trustedProxies !== undefined && forwardedFor !== undefined) {
    for (const entry of forwardedFor.split(',').reverse()) {
      if (!trustedProxies.has(client)) break;
      text = entry.trim();
      if (isIP(text) === 0 || !client.set(text, 0)) return null;
    }
  }
  return { address: client, text: normalise(text) };
}

/** Without a zone, in the form of RFC 5952. An IPv4-mapped address becomes IPv4 (decisions §8). */
function normalise(address: string): string {
  const plain = address.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
  return plain.includes(':') ? new URL(`http://[${plain}]`).hostname.slice(1, -1) : plain;
}

/** A chunk of this size is passed on as it is. */
const LARGE_CHUNK_BYTES = 512;
const BLOCK_BYTES = 4_096;

/**
 * Puts the small chunks of a body that came in one read of the socket together. A chunk takes some 550 bytes of memory,
 * and Node holds as many as a request may have unread bytes: 65,536 of one byte. Call it before the body comes.
 */
export function coalesceChunks(request: IncomingMessage): void {
  const push = request.push.bind(request);
  let block: Buffer | null = null;
  let used = 0;
  const flush = (): void => {
    if (block !== null) push(block.subarray(0, used));
    block = null;
  };
  // An own property: Express replaces the prototype.
  request.push = (chunk: Buffer | null): boolean => {
    if (chunk === null || chunk.length >= LARGE_CHUNK_BYTES) {
      flush();
      return push(chunk);
    }
    if (block !== null && used + chunk.length > BLOCK_BYTES) flush();
    if (block === null) {
      block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      used = 0;
      setImmediate(flush);
    }
    block.set(chunk, used);
    used += chunk.length;
    return request.readableLength + used < request.readableHighWaterMark;
  };
}

/** Stands for a path segment with invalid percent-encoding. No segment that a client sends decodes to it. */
export const UNDECODABLE = '\uD800';

/**
 * Express would answer 400 to a segment that it cannot decode, and would find no route for `*`. Such a segment is
 * replaced, so that it is reported later together with all faults.
 */
export function repairUrl(request: Pick<Request, 'url' | 'path'>): void {
  if (!request.path.startsWith('/')) request.url = `/${request.url}`;
  if (!request.url.includes('%')) return;
  const [path, ...query] = request.url.split('?') as [string, ...string[]];
  const segments = path.split('/').map((one) => (decode(one) === null ? UNDECODABLE : one));
  request.url = [segments.join('/'), ...query].join('?');
}

/** `+` stands for itself, as in any other place of a URL: a time may end with `+01:00`. @returns null: not possible. */
export function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Counts and times requests by method, route pattern and status; never by path. */
export class RequestMetrics {
  private readonly requests: Counter<'method' | 'route' | 'status'>;
  private readonly durations: Histogram<'method' | 'route'>;
  readonly refusedConnections: Counter;

  constructor(registry: Registry) {
    this.requests = new Counter({
      name: 'weir_management_requests_total',
      help: 'Requests to the management API',
      labelNames: ['method', 'route', 'status'],
      registers: [registry],
    });
    this.durations = new Histogram({
      name: 'weir_management_request_duration_seconds',
      help: 'Time from the headers of a request to the end of its response',
      labelNames: ['method', 'route'],
      buckets: [0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
      registers: [registry],
    });
    this.refusedConnections = new Counter({
      name: 'weir_management_connections_refused_total',
      help: 'Connections to the management API that were closed at once: MANAGEMENT_CONNECTIONS were open',
      registers: [registry],
    });
  }

  /** @param startedMs null: the response is a stream, which lasts as long as its client wants. */
  observe(method: string, route: string, status: number, startedMs: number | null): void {
    // Clients may send any method. Only methods that a route has get their own series.
    const label = route === 'none' ? 'other' : method;
    this.requests.inc({ method: label, route, status });
    if (startedMs === null) return;
    this.durations.observe({ method: label, route }, (performance.now() - startedMs) / 1000);
  }
}
