import type { Ipv6Words } from '@weir/config-model';
import { formatIpv4, maskIpv4, parseIpv4 } from './ipv4.js';
import { formatIpv6, maskIpv6, parseIpv6 } from './ipv6.js';

/** What the networks of one address family have of their own. */
export interface AddressFamily<Address> {
  readonly kind: 'ipv4Network' | 'ipv6Network';
  readonly table: 'ipv4_network' | 'ipv6_network';
  /** Null when the text is no address of the family. */
  parse(text: string): Address | null;
  format(address: Address): string;
  mask(address: Address, prefixLength: number): Address;
  /** How networks nest, for whoever tried it under one address. */
  readonly nestingExample: string;
}

export const IPV4: AddressFamily<number> = {
  kind: 'ipv4Network',
  table: 'ipv4_network',
  parse: parseIpv4,
  format: formatIpv4,
  mask: maskIpv4,
  nestingExample: '192.0.2.0/24 and 192.0.2.1/28',
};

export const IPV6: AddressFamily<Ipv6Words> = {
  kind: 'ipv6Network',
  table: 'ipv6_network',
  parse: parseIpv6,
  format: formatIpv6,
  mask: maskIpv6,
  nestingExample: '2001:db8::/48 and 2001:db8::1/64',
};
