import { ClientAddress } from '@weir/clients';
import type { CidrSet } from '@weir/ops';
import { isIP } from 'node:net';

/**
 * The address that a request came from: the peer of the connection, or, when that is a trusted proxy, the rightmost
 * entry of `X-Forwarded-For` that is not one (decisions §8). When all entries are trusted, it is the leftmost.
 * @returns null when that entry is not an IP address: no list approves such a source.
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trustedProxies: CidrSet | undefined,
): ClientAddress | null {
  const client = new ClientAddress();
  if (peer === undefined || !client.set(peer, 0)) return null;
  if (trustedProxies === undefined || forwardedFor === undefined) return client;
  for (const entry of forwardedFor.split(',').reverse()) {
    if (!trustedProxies.has(client)) break;
    const address = entry.trim();
    if (isIP(address) === 0 || !client.set(address, 0)) return null;
  }
  return client;
}
