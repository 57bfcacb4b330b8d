import { DomainError, normaliseDomain } from '@weir/dns-name';
import { isIP } from 'node:net';

/** Longer than a name (253 octets, RFC 1035 §3.1) with a port can be in any spelling of people. */
const LONGEST_HOST = 300;

/**
 * The name of the site that a request is for.
 * @param target request target: a path, or a whole URL, which then counts more than `host` (RFC 9112 §3.2.2)
 * @param host the Host header
 * @returns the name in normal form; null: the request names no site, but an address, nothing, or what is no name
 */
export function requestedName(target: string, host: string | undefined): string | null {
  const authority = /^https?:\/\/([^/?#]*)/i.exec(target)?.[1] ?? host ?? '';
  // Headers come as Latin-1; some programs write UTF-8 there.
  const name = Buffer.from(authority.replace(/:\d{0,5}$/, ''), 'latin1').toString();
  if (name.length > LONGEST_HOST || isIP(name) !== 0) return null;
  try {
    return normaliseDomain(name);
  } catch (error) {
    if (error instanceof DomainError) return null;
    throw error;
  }
}
