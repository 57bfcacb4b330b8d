import { ClientAddress } from '@weir/clients';
import type { CidrSet } from '@weir/ops';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export interface ConnectionLimits {
  /** Open connections of all clients. */
  readonly connections: number;
  /** Undefined: any source address is approved. */
  readonly allowedSources: CidrSet | undefined;
  readonly trustedProxies: CidrSet | undefined;
}

/** Open connections of all sources that are not approved. They get nothing but 403. */
const UNAPPROVED_CONNECTIONS = 64;

/**
 * Closes connections beyond the limits at once. Each uses a file descriptor, which the process also needs for
 * PostgreSQL, Redis, its files and its other ports. Sources that are not approved leave nearly all to the others.
 */
export function limitConnections(
  server: Server,
  limits: ConnectionLimits,
  onRefused: () => void,
): void {
  server.maxConnections = limits.connections;
  server.on('drop', onRefused);
  let unapproved = 0;
  server.on('connection', (socket: Socket) => {
    if (isApproved(socket, limits)) return;
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
function isApproved(socket: Socket, { allowedSources, trustedProxies }: ConnectionLimits): boolean {
  if (allowedSources === undefined) return true;
  const peer = new ClientAddress();
  if (!peer.set(socket.remoteAddress ?? '', 0)) return false;
  return allowedSources.has(peer) || trustedProxies?.has(peer) === true;
}
