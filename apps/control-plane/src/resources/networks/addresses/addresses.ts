import { readIpv4, readIpv6 } from '@weir/clients';
import type { Ipv6Words } from '@weir/config-model';
import { IsInteger, IsText } from '../../../http/validation/rules.js';

/** The address as an unsigned 32-bit integer; null when the text is not four decimal parts without leading zeros. */
export function parseIpv4(text: string): number | null {
  const address = readIpv4(text);
  return address < 0 ? null : address;
}

export function formatIpv4(address: number): string {
  return [address >>> 24, (address >>> 16) & 255, (address >>> 8) & 255, address & 255].join('.');
}

/** The address with all but its first `prefixLength` bits cleared. */
export function maskIpv4(address: number, prefixLength: number): number {
  return prefixLength === 0 ? 0 : (address & (-1 << (32 - prefixLength))) >>> 0;
}

/** Any text form of RFC 4291 §2.2; null for other texts, zone ids and IPv4-mapped addresses (decisions §3). */
export function parseIpv6(text: string): Ipv6Words | null {
  const words = new Uint32Array(4);
  if (text.includes('%') || !readIpv6(text, words)) return null;
  const [first, second, third, fourth] = words;
  const isIpv4Mapped = first === 0 && second === 0 && third === 0xffff;
  return isIpv4Mapped ? null : [first, second, third, fourth];
}

/** The text of RFC 5952, as URLs have it. */
export function formatIpv6(words: Ipv6Words): string {
  const groups = words.map(
    (word) => `${(word >>> 16).toString(16)}:${(word & 0xffff).toString(16)}`,
  );
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

/** The address with all but its first `prefixLength` bits cleared. */
export function maskIpv6(words: Ipv6Words, prefixLength: number): Ipv6Words {
  const masked = words.map((word, i) =>
    maskIpv4(word, Math.min(Math.max(prefixLength - i * 32, 0), 32)),
  );
  return masked as unknown as Ipv6Words;
}

/** The differences between IPv4 and IPv6 networks. */
export interface AddressFamily<Address> {
  readonly kind: 'ipv4Network' | 'ipv6Network';
  readonly table: 'ipv4_network' | 'ipv6_network';
  /** @returns null when the text is not an address of the family. */
  parse(text: string): Address | null;
  format(address: Address): string;
  mask(address: Address, prefixLength: number): Address;
  /** The least and the greatest prefix length of a network. */
  readonly prefixLengths: readonly [number, number];
  /** Two nested networks with different addresses, for an error message. */
  readonly nestingExample: string;
}

export const IPV4: AddressFamily<number> = {
  kind: 'ipv4Network',
  table: 'ipv4_network',
  parse: parseIpv4,
  format: formatIpv4,
  mask: maskIpv4,
  prefixLengths: [10, 32],
  nestingExample: '192.0.2.0/24 and 192.0.2.1/28',
};

export const IPV6: AddressFamily<Ipv6Words> = {
  kind: 'ipv6Network',
  table: 'ipv6_network',
  parse: parseIpv6,
  format: formatIpv6,
  mask: maskIpv6,
  prefixLengths: [16, 128],
  nestingExample: '2001:db8::/48 and 2001:db8::1/64',
};

export const LAST_PORT = 65535;

export function IsPort(): PropertyDecorator {
  return IsInteger(0, LAST_PORT);
}

export function isPort(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LAST_PORT;
}

/** Not `IsIP` of class-validator: an address is valid exactly when it is the one that is stored afterwards. */
export function IsIpv4(): PropertyDecorator {
  return IsText(
    'an IPv4 address of four decimal parts without leading zeros',
    (text) => parseIpv4(text) !== null,
    { format: 'ipv4', example: '192.0.2.0' },
  );
}

export function IsIpv6(): PropertyDecorator {
  return IsText(
    'an IPv6 address without zone, and not an IPv4-mapped one',
    (text) => parseIpv6(text) !== null,
    { format: 'ipv6', example: '2001:db8::' },
  );
}

/** Largest int_ip: an IPv4 address as an unsigned 32-bit integer. */
export const MAX_INT_IP = 0xffff_ffff;
