import { type ClientAddress, UNKNOWN_PORT } from '@weir/clients';
import type { CidrSet } from '@weir/ops';

/** `address`, `address:port`, `[v6]` or `[v6]:port`, as proxies write it. */
const ENTRY = /^(?:\[([^\]]*)\]|([\d.]+)|([^\]]*))(?::(\d{1,5}))?$/;

/**
 * Replaces the sender of a request by the visitor that trusted proxies name: the rightmost entry of
 * `X-Forwarded-For` that is not a trusted proxy (decisions §8). Empty entries are skipped.
 * @param client the sender; becomes the visitor
 * @returns false: a relevant entry is not an address, and `client` is undefined then
 */
export function followForwardedFor(
  client: ClientAddress,
  forwardedFor: string | undefined,
  trustedProxies: CidrSet,
): boolean {
  if (forwardedFor === undefined) return true;
  for (const text of forwardedFor.split(',').reverse()) {
    const entry = text.trim();
    if (!trustedProxies.has(client)) return true;
    if (entry !== '' && !readEntry(entry, client)) return false;
  }
  return true;
}

function readEntry(entry: string, client: ClientAddress): boolean {
  const match = ENTRY.exec(entry);
  if (match === null) return false;
  const port = match[4] === undefined ? UNKNOWN_PORT : Number(match[4]);
  return port <= 65_535 && client.set(match[1] ?? match[2] ?? match[3], port);
}
