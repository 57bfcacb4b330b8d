import type { Server } from 'node:http';

/** Time limits for clients. */
export interface TimeLimits {
  /** To send the headers of a request. */
  readonly headersMs: number;
  /** To send the whole request. */
  readonly requestMs: number;
  /** Until the next request on a kept-alive connection. */
  readonly idleMs: number;
  /** To read the next bytes of a response. A slow response may hold a connection to PostgreSQL. */
  readonly stallMs: number;
}

/** At 7 Mbit/s, the largest accepted body takes `requestMs`. */
export const TIME_LIMITS = {
  headersMs: 20_000,
  requestMs: 300_000,
  idleMs: 15_000,
};

/** A client that is too slow gets 408. When no request or already a response has begun, its connection is closed. */
export function limitTimes(server: Server, limits: TimeLimits): void {
  server.headersTimeout = limits.headersMs;
  server.requestTimeout = limits.requestMs;
  server.keepAliveTimeout = limits.idleMs;
  server.on('request', (_request, response) => {
    // Until the response begins, the connection is idle while the request is processed.
    response.setTimeout(limits.stallMs, () => {
      if (response.headersSent) response.destroy();
    });
  });
}
