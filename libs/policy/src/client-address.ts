import { readUint32 } from '@weir/dns-wire';
import { isIPv4, isIPv6 } from 'node:net';

/** The client of a query. One object serves all queries of a thread; the policy keeps no reference. */
export interface Client {
  /** An IPv4-mapped IPv6 address is family 4 (decisions §8); the caller maps it. */
  family: 4 | 6;
  /** Four big-endian 32-bit words of the address, most significant first. IPv4 uses the first one. */
  readonly words: Uint32Array;
  /** Source port, 0–65535. */
  port: number;
}

/** Third word of `::ffff:0:0/96`, the IPv4-mapped addresses (RFC 4291 §2.5.5.2). */
const MAPPED = 0x0000_ffff;

/** Port of a client of which only the address is known. It is outside of every port range. */
export const UNKNOWN_PORT = -1;

/** The address and port of a client. Reused; only `set`, which reads a text, allocates. */
export class ClientAddress implements Client {
  family: 4 | 6 = 4;
  readonly words = new Uint32Array(4);
  port = 0;

  /**
   * Reads the text that a socket gives, without its zone (`%eth0`). An IPv4-mapped address becomes IPv4 (decisions §8).
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

/** An address of four decimal numbers without leading zeros, as an unsigned number; −1: the text is none. */
export function readIpv4(text: string): number {
  return isIPv4(text) ? text.split('.').reduce((value, part) => value * 256 + Number(part), 0) : -1;
}

/** Reads any form of RFC 4291 §2.2, up to its zone, into four words. False: it is none, and nothing is written. */
export function readIpv6(text: string, words: Uint32Array): boolean {
  const [address] = text.split('%', 1);
  if (!isIPv6(address)) return false;
  const [first, last = []] = address.split('::').map(groupsOf);
  const gap = new Array<number>(8 - first.length - last.length).fill(0);
  const groups = [...first, ...gap, ...last];
  for (let i = 0; i < 4; i++) words[i] = groups[2 * i] * 0x1_0000 + groups[2 * i + 1];
  return true;
}

/** The 16-bit groups of a part of an IPv6 address. An IPv4 address at its end is two. */
function groupsOf(part: string): number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return Number.parseInt(group, 16);
    const value = readIpv4(group);
    return [value >>> 16, value & 0xffff];
  });
}
