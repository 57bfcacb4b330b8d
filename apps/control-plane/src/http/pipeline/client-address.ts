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
): string | null {
  if (peer === undefined) return null;
  if (trustedProxies === undefined || forwardedFor === undefined) return peer;
  let address = peer;
  for (const entry of forwardedFor.split(',').reverse()) {
    if (!trustedProxies.has(address)) break;
    address = entry.trim();
    if (isIP(address) === 0) return null;
  }
  return address;
}
