/**
 * Words of a route: where a datagram came from, and the local address that it was sent to, so that the answer goes back
 * between the same two addresses.
 *
 * IPv4: `sockaddr_in` in 4 words, then the local address in 1. IPv6: `sockaddr_in6` in 7 words, then the local address
 * in 4 and, for a link-local one, the index of its interface in 1. The bytes are those of the kernel.
 */
export const ROUTE_WORDS = 12;
