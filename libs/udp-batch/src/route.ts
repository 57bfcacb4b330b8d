import { AF_INET, AF_INET6 } from './constants.js';
import { SOCKADDR_IN6_BYTES, SOCKADDR_IN_BYTES } from './layout.js';

/**
 * Words of a route: where a datagram came from, and the local address that it was sent to, so that the answer goes back
 * between the same two addresses.
 *
 * IPv4: `sockaddr_in` in 4 words, then the local address in 1. IPv6: `sockaddr_in6` in 7 words, then the local address
 * in 4 and, for a link-local one, the index of its interface in 1. The bytes are those of the kernel.
 */
export const ROUTE_WORDS = 12;
/** Where the local address begins. */
export const LOCAL_AT_IPV4 = SOCKADDR_IN_BYTES / 4;
export const LOCAL_AT_IPV6 = SOCKADDR_IN6_BYTES / 4;

/**
 * Writes the route to an address, from whichever address the kernel chooses.
 * @param words the address in the order of the network: one word for IPv4, four for IPv6
 * @param isIpv6Socket an IPv4 address on such a socket becomes an IPv4-mapped one
 */
export function writeRoute(
  route: Int32Array,
  family: 4 | 6,
  words: Uint32Array,
  port: number,
  isIpv6Socket: boolean,
): void {
  route.fill(0);
  const portWord = ((port & 0xff) << 24) | ((port >>> 8) << 16);
  if (!isIpv6Socket) {
    route[0] = portWord | AF_INET;
    route[1] = swap(words[0]);
    return;
  }
  route[0] = portWord | AF_INET6;
  if (family === 4) {
    route[4] = swap(MAPPED);
    route[5] = swap(words[0]);
  } else for (let i = 0; i < 4; i++) route[2 + i] = swap(words[i]);
}

/** The address that a route leads to, as text. */
export function addressOfRoute(route: Int32Array, isIpv6Socket: boolean): string {
  if (!isIpv6Socket) return octets(route[1]).join('.');
  const groups = Array.from({ length: 4 }, (_, i) => octets(route[2 + i])).flatMap(
    ([a, b, c, d]) => [a * 256 + b, c * 256 + d],
  );
  return groups.map((group) => group.toString(16)).join(':');
}

/** The port that a route leads to. */
export function portOfRoute(route: Int32Array): number {
  return ((route[0] >>> 24) & 0xff) | ((route[0] >>> 8) & 0xff00);
}

/** Third word of `::ffff:0:0/96`, the IPv4-mapped addresses (RFC 4291 §2.5.5.2). */
const MAPPED = 0x0000_ffff;

function swap(word: number): number {
  return (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);
}

function octets(word: number): [number, number, number, number] {
  return [word & 0xff, (word >>> 8) & 0xff, (word >>> 16) & 0xff, word >>> 24];
}
