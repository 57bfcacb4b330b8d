import {
  HEADER_BYTES,
  NO_EXTENDED_ERROR,
  type Query,
  Rcode,
  Type,
  writeAddressAnswer,
  writeNegativeAnswer,
  writeZoneAnswer,
} from '@weir/dns-wire';
import { Special } from './special-names.js';

/** TTL of all answers made here (RFC 6303 §3). */
const TTL_SECONDS = 10_800;
const IPV4_LOOPBACK = Uint8Array.of(127, 0, 0, 1);
const IPV6_LOOPBACK = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);

/**
 * Writes the answer for a special name.
 * @param zoneOffset offset of the special name in the query: the start of the qname, or of one of its labels
 * @returns the length of the answer in bytes
 */
export function writeSpecialAnswer(
  out: Uint8Array,
  bytes: Uint8Array,
  query: Query,
  special: Exclude<Special, typeof Special.none>,
  zoneOffset: number,
  ttlCapSeconds: number,
): number {
  const ttl = Math.min(TTL_SECONDS, ttlCapSeconds);
  const [ipv4, ipv6, none] = [IPV4_LOOPBACK, IPV6_LOOPBACK, NO_EXTENDED_ERROR];
  switch (special) {
    case Special.ready:
      return writeAddressAnswer(out, bytes, query, ipv4, ipv6, 0, none);
    case Special.localhost:
      if (query.qtype === Type.a || query.qtype === Type.aaaa) {
        return writeAddressAnswer(out, bytes, query, ipv4, ipv6, ttl, none);
      }
      return writeNegativeAnswer(out, bytes, query, Rcode.noError, zoneOffset, ttl);
    case Special.nonexistent:
      return writeNegativeAnswer(out, bytes, query, Rcode.nxDomain, zoneOffset, ttl);
    case Special.emptyZone:
      if (zoneOffset === HEADER_BYTES) return writeZoneAnswer(out, bytes, query, ttl);
      return writeNegativeAnswer(out, bytes, query, Rcode.nxDomain, zoneOffset, ttl);
    case Special.empty:
    case Special.designated:
      return writeNegativeAnswer(out, bytes, query, Rcode.noError, zoneOffset, ttl);
  }
}
