import { SOCKADDR_IN6_BYTES, SOCKADDR_IN_BYTES } from './layout.js';
import { encodeSocketAddress } from './socket-address.js';

/**
 * Words of a route: where a datagram came from, and on a wildcard the local address that it was sent to, so that the
 * answer goes back between the same two addresses.
 *
 * IPv4: `sockaddr_in` in 4 words, then the local address in 1. IPv6: `sockaddr_in6` in 7 words, then the local address
 * in 4 and, for a link-local one, the index of its interface in 1. The bytes are those of the kernel.
 */
export const ROUTE_WORDS = 12;
/** Where the local address begins. */
export const LOCAL_AT_IPV4 = SOCKADDR_IN_BYTES / 4;
export const LOCAL_AT_IPV6 = SOCKADDR_IN6_BYTES / 4;

/** The route to an address, from whichever address the kernel chooses. */
export function routeTo(host: string, port: number): Int32Array {
  const route = new Int32Array(ROUTE_WORDS);
  new Uint8Array(route.buffer).set(encodeSocketAddress(host, port));
  return route;
}
