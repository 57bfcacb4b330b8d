import { isIPv6 } from 'node:net';
import { AF_INET, AF_INET6 } from './constants.js';
import {
  SOCKADDR_IN6_ADDRESS,
  SOCKADDR_IN6_BYTES,
  SOCKADDR_IN_ADDRESS,
  SOCKADDR_IN_BYTES,
  SOCKADDR_PORT,
} from './layout.js';

/** `sockaddr_in` or `sockaddr_in6`. @throws RangeError when the text is not an address without a zone */
export function encodeSocketAddress(host: string, port: number): Uint8Array {
  const isV6 = isIPv6(host);
  const bytes = new Uint8Array(isV6 ? SOCKADDR_IN6_BYTES : SOCKADDR_IN_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, isV6 ? AF_INET6 : AF_INET, true);
  view.setUint16(SOCKADDR_PORT, port);
  bytes.set(addressBytes(host, isV6), isV6 ? SOCKADDR_IN6_ADDRESS : SOCKADDR_IN_ADDRESS);
  return bytes;
}

/** The address in a socket address, as the words of a route. */
export function addressWordsOf(bytes: Uint8Array, family: 4 | 6): Int32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const [start, count] = family === 6 ? [SOCKADDR_IN6_ADDRESS, 4] : [SOCKADDR_IN_ADDRESS, 1];
  return Int32Array.from({ length: count }, (_, i) => view.getInt32(start + 4 * i, true));
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
