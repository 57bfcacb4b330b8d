import { DomainError, normaliseDomain } from '@weir/dns-name';
import { isIP } from 'node:net';

/** Longer than any spelling of a name (253 octets, RFC 1035 §3.1) with a port. */
const MAX_HOST_LENGTH = 300;

/**
 * The name of the site that a request is for.
 * @param target request target: a path, or a whole URL, which overrides `host` (RFC 9112 §3.2.2)
 * @param host the Host header
 * @returns the name in normal form; null: the request has no name, an address or an invalid name
 */
export function requestedName(target: string, host: string | undefined): string | null {
  const authority = /^https?:\/\/([^/?#]*)/i.exec(target)?.[1] ?? host ?? '';
  // Node decodes headers as Latin-1, but some programs send UTF-8.
  const name = Buffer.from(authority.replace(/:\d{0,5}$/, ''), 'latin1').toString();
  if (name.length > MAX_HOST_LENGTH || isIP(name) !== 0) return null;
  try {
    return normaliseDomain(name);
  } catch (error) {
    if (error instanceof DomainError) return null;
    throw error;
  }
}
