import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import {
  AF_INET,
  AF_INET6,
  SOCKADDR_IN6_ADDRESS,
  SOCKADDR_IN6_BYTES,
  SOCKADDR_IN6_SCOPE,
  SOCKADDR_IN_ADDRESS,
  SOCKADDR_IN_BYTES,
  SOCKADDR_PORT,
} from './linux.js';

/** `sockaddr_in` or `sockaddr_in6`. @throws RangeError when the text is not an address, or there is no such zone */
export function encodeSocketAddress(text: string, port: number): Uint8Array {
  const [host, zone] = text.split('%', 2);
  const isV6 = isIPv6(host);
  const bytes = new Uint8Array(isV6 ? SOCKADDR_IN6_BYTES : SOCKADDR_IN_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, isV6 ? AF_INET6 : AF_INET, true);
  view.setUint16(SOCKADDR_PORT, port);
  bytes.set(addressBytes(host, isV6), isV6 ? SOCKADDR_IN6_ADDRESS : SOCKADDR_IN_ADDRESS);
  if (isV6 && zone !== undefined) view.setUint32(SOCKADDR_IN6_SCOPE, scopeOf(zone), true);
  return bytes;
}

/** Whether the address in a socket address stands for all addresses of the machine. */
export function isUnspecified(bytes: Uint8Array, family: 4 | 6): boolean {
  const [start, count] = family === 6 ? [SOCKADDR_IN6_ADDRESS, 16] : [SOCKADDR_IN_ADDRESS, 4];
  return bytes.subarray(start, start + count).every((byte) => byte === 0);
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
  return bytes[SOCKADDR_PORT] * 256 + bytes[SOCKADDR_PORT + 1];
}

function addressBytes(host: string, isV6: boolean): Uint8Array {
  if (!isV6) {
    const parts = host.split('.').map(Number);
    if (parts.length !== 4 || !parts.every((part) => part >= 0 && part <= 255))
      throw noAddress(host);
    return Uint8Array.from(parts);
  }
  // The URL parser has the only IPv6 parser of Node that gives a canonical text.
  const text = new URL(`http://[${host}]`).hostname.slice(1, -1);
  const [head, tail] = text.includes('::') ? text.split('::') : [text, ''];
  const front = groupsOf(head);
  const back = groupsOf(tail);
  const groups = [...front, ...new Array<number>(8 - front.length - back.length).fill(0), ...back];
  return Uint8Array.from(groups.flatMap((group) => [group >>> 8, group & 0xff]));
}

function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => parseInt(group, 16));
}

function noAddress(host: string): RangeError {
  return new RangeError(`${host} is not an address`);
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
export const LOCAL_AT_IPV4 = SOCKADDR_IN_BYTES / 4;
export const LOCAL_AT_IPV6 = SOCKADDR_IN6_BYTES / 4;

/** The route to an address, from whichever address the kernel chooses. */
export function routeTo(host: string, port: number): Int32Array {
  const route = new Int32Array(ROUTE_WORDS);
  new Uint8Array(route.buffer).set(encodeSocketAddress(host, port));
  return route;
}
