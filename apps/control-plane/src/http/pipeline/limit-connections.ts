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
function isApproved(
  socket: Socket,
  {
    MANAGEMENT_ALLOWED_SOURCES: allowedSources,
    MANAGEMENT_TRUSTED_PROXIES: trustedProxies,
  }: ControlPlaneConfiguration,
): boolean {
  if (allowedSources === undefined) return true;
  const peer = new ClientAddress();
  if (!peer.set(socket.remoteAddress ?? '', 0)) return false;
  return allowedSources.has(peer) || trustedProxies?.has(peer) === true;
}
