import type { Server } from 'node:http';

/** Longest that a client may take. */
export interface TimeLimits {
  /** To send the head of a request. */
  readonly headMs: number;
  /** To send all of it. */
  readonly requestMs: number;
  /** Until its next request on a connection that is kept. */
  readonly idleMs: number;
  /** To take the next bytes of an answer: until then it may hold a connection to PostgreSQL. */
  readonly stallMs: number;
}

/** The largest body that is accepted takes this long at 7 Mbit/s. */
export const TIME_LIMITS: TimeLimits = {
  headMs: 20_000,
  requestMs: 300_000,
  idleMs: 15_000,
  stallMs: 30_000,
};

/** Whoever takes longer is answered 408, or cut off where no request has begun, or an answer has. */
export function limitTimes(server: Server, limits: TimeLimits): void {
  server.headersTimeout = limits.headMs;
  server.requestTimeout = limits.requestMs;
  server.keepAliveTimeout = limits.idleMs;
  server.on('request', (_request, response) => {
    // Before it begins to answer the server is silent for as long as the work takes.
    response.setTimeout(limits.stallMs, () => {
      if (response.headersSent) response.destroy();
    });
  });
}
