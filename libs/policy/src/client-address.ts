import { readUint32 } from '@weir/dns-wire';

/**
 * The client of a query: its source address and port. Mutable, so that one object serves all queries of a thread. The
 * policy reads it during a call and keeps no reference.
 */
export interface Client {
  /** An IPv4-mapped IPv6 address is family 4 (decisions §8); the caller maps it. */
  family: 4 | 6;
  /**
   * The address in big-endian 32-bit words, most significant first: one for IPv4 (`words[0]`), four for IPv6. Length
   * 4.
   */
  readonly words: Uint32Array;
  /** Source port, 0–65535. */
  port: number;
}

const DOT = 0x2e;
const COLON = 0x3a;
/** Third word of `::ffff:0:0/96`, the IPv4-mapped addresses (RFC 4291 §2.5.5.2). */
const MAPPED = 0x0000_ffff;

/** Port of a client of which only the address is known. It is outside of every port range. */
export const UNKNOWN_PORT = -1;

/** The address and port of a client, parsed from the text that a socket gives. Reused; allocates nothing. */
export class ClientAddress implements Client {
  family: 4 | 6 = 4;
  readonly words = new Uint32Array(4);
  port = 0;

  /**
   * Parses an address in the notations of `inet_ntop`. A zone (`%eth0`) is ignored. An IPv4-mapped address becomes IPv4
   * (decisions §8).
   * @returns false when the text is not an address; the object is then undefined
   */
  set(address: string, port: number): boolean {
    this.port = port;
    this.words.fill(0);
    if (!address.includes(':')) {
      this.family = 4;
      const value = readIpv4(address);
      this.words[0] = value;
      return value >= 0;
    }
    this.family = 6;
    if (!readIpv6(address, this.words)) return false;
    this.unmap();
    return true;
  }

  setIpv4(address: number, port: number): void {
    const { words } = this;
    this.family = 4;
    // `fill` costs more than four stores.
    words[0] = address;
    words[1] = 0;
    words[2] = 0;
    words[3] = 0;
    this.port = port;
  }

  /** Reads 16 bytes at `offset`. An IPv4-mapped address becomes IPv4. */
  setIpv6(bytes: Uint8Array, offset: number, port: number): void {
    this.family = 6;
    for (let i = 0; i < 4; i++) this.words[i] = readUint32(bytes, offset + i * 4);
    this.port = port;
    this.unmap();
  }

  private unmap(): void {
    const { words } = this;
    if (words[0] === 0 && words[1] === 0 && words[2] === MAPPED) this.setIpv4(words[3], this.port);
  }

  copyFrom(other: ClientAddress): void {
    this.family = other.family;
    this.port = other.port;
    this.words.set(other.words);
  }
}

/**
 * Reads four decimal numbers without leading zeros. Allocates nothing.
 * @returns the address as an unsigned number, or −1.
 */
export function readIpv4(text: string, from = 0, to = text.length): number {
  let value = 0;
  let part = -1;
  let parts = 1;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (code === DOT) {
      if (part < 0 || ++parts > 4) return -1;
      value = value * 256 + part;
      part = -1;
    } else {
      if (code < 0x30 || code > 0x39 || part === 0) return -1;
      part = Math.max(part, 0) * 10 + code - 0x30;
      if (part > 255) return -1;
    }
  }
  return parts === 4 && part >= 0 ? value * 256 + part : -1;
}

/**
 * Reads any form of RFC 4291 §2.2, up to its zone, into four zeroed words. Allocates nothing. Groups before `::` are
 * written from the left; groups after it are then shifted to the right end.
 * @returns false when the text is not an IPv6 address; the words are then undefined
 */
export function readIpv6(text: string, words: Uint32Array): boolean {
  const zone = text.indexOf('%');
  const end = zone < 0 ? text.length : zone;
  let groups = 0;
  let gapAt = -1;
  let at = 0;
  if (end >= 2 && text.charCodeAt(0) === COLON && text.charCodeAt(1) === COLON) {
    gapAt = 0;
    at = 2;
  }
  while (at < end) {
    const stop = endOfGroup(text, at, end);
    if (text.charCodeAt(stop) === DOT) {
      const value = readIpv4(text, at, end);
      if (value < 0 || groups > 6) return false;
      putGroup(words, groups++, value >>> 16);
      putGroup(words, groups++, value & 0xffff);
      break;
    }
    const value = readGroup(text, at, stop);
    if (value < 0 || groups > 7) return false;
    putGroup(words, groups++, value);
    at = stop + 1;
    if (stop === end) break;
    if (at === end) return false;
    if (text.charCodeAt(at) === COLON) {
      if (gapAt >= 0) return false;
      gapAt = groups;
      at++;
    }
  }
  if (gapAt < 0) return groups === 8;
  if (groups === 8) return false;
  for (let moved = 1; moved <= groups - gapAt; moved++) moveGroup(words, groups - moved, 8 - moved);
  return true;
}

function endOfGroup(text: string, from: number, end: number): number {
  let at = from;
  while (at < end && text.charCodeAt(at) !== COLON && text.charCodeAt(at) !== DOT) at++;
  return at;
}

function readGroup(text: string, from: number, to: number): number {
  if (to === from || to - from > 4) return -1;
  let value = 0;
  for (let i = from; i < to; i++) {
    const digit = hexDigit(text.charCodeAt(i));
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1;
}

function putGroup(words: Uint32Array, group: number, value: number): void {
  words[group >> 1] |= value << ((group & 1) === 0 ? 16 : 0);
}

function moveGroup(words: Uint32Array, from: number, to: number): void {
  const shift = (from & 1) === 0 ? 16 : 0;
  const value = (words[from >> 1] >>> shift) & 0xffff;
  words[from >> 1] &= ~(0xffff << shift);
  putGroup(words, to, value);
}
