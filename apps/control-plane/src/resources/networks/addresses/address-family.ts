import type { Ipv6Words } from '@weir/config-model';
import { formatIpv4, maskIpv4, parseIpv4 } from './ipv4.js';
import { formatIpv6, maskIpv6, parseIpv6 } from './ipv6.js';

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
