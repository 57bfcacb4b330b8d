import { ClientAddress } from '@weir/clients';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ControlPlaneConfiguration } from '../../configuration.js';

/** Open connections of all sources that are not approved. They get nothing but 403. */
const UNAPPROVED_CONNECTIONS = 64;

/**
 * Closes connections beyond the limits at once. Each uses a file descriptor, which the process also needs for
 * PostgreSQL, Redis, its files and its other ports. Sources that are not approved leave nearly all to the others.
 */
export function limitConnections(
  server: Server,
  configuration: ControlPlaneConfiguration,
  onRefused: () => void,
): void {
  server.maxConnections = configuration.MANAGEMENT_CONNECTIONS;
  server.on('drop', onRefused);
  let unapproved = 0;
  server.on('connection', (socket: Socket) => {
    if (isApproved(socket, configuration)) return;
    if (unapproved >= UNAPPROVED_CONNECTIONS) {
      onRefused();
      socket.destroy();
      return;
    }
    unapproved++;
    socket.once('close', () => unapproved--);
  });
}

/** Whether the connection comes from an approved source, or from a proxy that may have one behind it. */
function isApproved(socket: Socket, configuration: ControlPlaneConfiguration): boolean {
  const { MANAGEMENT_ALLOWED_SOURCES: sources, MANAGEMENT_TRUSTED_PROXIES: proxies } =
    configuration;
  if (sources === undefined) return true;
  const peer = new ClientAddress();
  if (!peer.set(socket.remoteAddress ?? '', 0)) return false;
  return sources.has(peer) || proxies?.has(peer) === true;
}

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
export const TIME_LIMITS = { headersMs: 20_000, requestMs: 300_000, idleMs: 15_000 };

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
