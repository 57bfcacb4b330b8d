import { readUint32 } from '@weir/dns-wire';

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

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const IPV6_GROUP = /^[0-9a-f]{1,4}$/i;

/** An address of four decimal numbers without leading zeros, as an unsigned number; −1: the text is none. */
export function readIpv4(text: string): number {
  return IPV4.test(text) ? text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0) : -1;
}

/** Reads any form of RFC 4291 §2.2, up to its zone, into four words. False: it is none, and nothing is written. */
export function readIpv6(text: string, words: Uint32Array): boolean {
  const parts = text.split('%', 1)[0].split('::');
  const [first, last = []] = parts.map((part, i) => groupsOf(part, i === parts.length - 1));
  const missing = 8 - first.length - last.length;
  if (parts.length === 1 ? missing !== 0 : parts.length > 2 || missing < 1) return false;
  const groups = [...first, ...new Array<number>(missing).fill(0), ...last];
  if (groups.includes(Number.NaN)) return false;
  for (let i = 0; i < 4; i++) words[i] = groups[2 * i] * 0x1_0000 + groups[2 * i + 1];
  return true;
}

/** The 16-bit groups of a part of an IPv6 address; NaN: it is none. An IPv4 address at the end is two. */
function groupsOf(part: string, isEnd: boolean): number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group, i, { length }) => {
    const ipv4 = isEnd && i === length - 1 ? readIpv4(group) : -1;
    if (ipv4 >= 0) return [ipv4 >>> 16, ipv4 % 0x1_0000];
    return IPV6_GROUP.test(group) ? Number.parseInt(group, 16) : Number.NaN;
  });
}
