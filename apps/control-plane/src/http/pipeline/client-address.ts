import { ClientAddress } from '@weir/clients';
import type { CidrSet } from '@weir/ops';
import { isIP } from 'node:net';
import type { RequestSource } from '../routing/request-context.js';

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
