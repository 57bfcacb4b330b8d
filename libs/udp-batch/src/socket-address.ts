import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import * as linux from './linux.js';
import { loadSystemCalls } from './system-calls.js';

/** `sockaddr_in` or `sockaddr_in6`. @throws RangeError when the text is not an address, or there is no such zone */
export function encodeSocketAddress(text: string, port: number): Uint8Array {
  const [host, zone] = text.split('%', 2);
  const isV6 = isIPv6(host);
  const bytes = new Uint8Array(isV6 ? linux.SOCKADDR_IN6_BYTES : linux.SOCKADDR_IN_BYTES);
  const view = new DataView(bytes.buffer);
  const family = isV6 ? linux.AF_INET6 : linux.AF_INET;
  view.setUint16(0, family, true);
  view.setUint16(linux.SOCKADDR_PORT, port);
  const address = bytes.subarray(isV6 ? linux.SOCKADDR_IN6_ADDRESS : linux.SOCKADDR_IN_ADDRESS);
  if (loadSystemCalls().inet_pton(family, host, address) !== 1) {
    throw new RangeError(`${host} is not an address`);
  }
  if (isV6 && zone !== undefined) view.setUint32(linux.SOCKADDR_IN6_SCOPE, scopeOf(zone), true);
  return bytes;
}

/** Whether the address in a socket address stands for all addresses of the machine. */
export function isUnspecified(bytes: Uint8Array, family: 4 | 6): boolean {
  return addressOf(bytes, family).every((byte) => byte === 0);
}

/** The 4 or 16 bytes of the address in a socket address. */
export function addressOf(bytes: Uint8Array, family: 4 | 6): Uint8Array {
  const [start, count] =
    family === 6 ? [linux.SOCKADDR_IN6_ADDRESS, 16] : [linux.SOCKADDR_IN_ADDRESS, 4];
  return bytes.subarray(start, start + count);
}

/** The index of a network interface (RFC 4007 §11.2), by its name or as a number. */
function scopeOf(zone: string): number {
  if (/^[1-9]\d{0,8}$/.test(zone)) return Number(zone);
  const scopes = networkInterfaces()[zone]?.map((one) => (one.family === 'IPv6' ? one.scopeid : 0));
  const scope = scopes?.find((one) => one !== 0);
  if (scope === undefined) throw new RangeError(`there is no interface ${zone}`);
  return scope;
}

/** The port of a socket address of either family. */
export function portOf(bytes: Uint8Array): number {
  return bytes[linux.SOCKADDR_PORT] * 256 + bytes[linux.SOCKADDR_PORT + 1];
}

/**
 * Words of a route: where a datagram came from, and on a wildcard the local address that it was sent to, so that the
 * answer goes back between the same two addresses.
 *
 * IPv4: `sockaddr_in` in 4 words, then the local address in 1. IPv6: `sockaddr_in6` in 7 words, then the local address
 * in 4 and, for a link-local one, the index of its interface in 1. The bytes are those of the kernel.
 */
export const ROUTE_WORDS = 12;
/** Where the local address begins. */
export const LOCAL_AT_IPV4 = linux.SOCKADDR_IN_BYTES / 4;
export const LOCAL_AT_IPV6 = linux.SOCKADDR_IN6_BYTES / 4;

/** The route to an address, from whichever address the kernel chooses. */
export function routeTo(host: string, port: number): Int32Array {
  const route = new Int32Array(ROUTE_WORDS);
  new Uint8Array(route.buffer).set(encodeSocketAddress(host, port));
  return route;
}
