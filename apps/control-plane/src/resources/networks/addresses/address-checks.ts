import { integer, textForm } from '../../../http/validation/checks.js';
import { parseIpv4 } from './ipv4.js';
import { parseIpv6 } from './ipv6.js';

export const port = integer(0, 65535);

export const ipv4 = textForm(
  'an IPv4 address of four decimal parts without leading zeros',
  (text) => parseIpv4(text) !== null,
  { format: 'ipv4', example: '192.0.2.0' },
);

export const ipv6 = textForm(
  'an IPv6 address without zone, and not an IPv4-mapped one',
  (text) => parseIpv6(text) !== null,
  { format: 'ipv6', example: '2001:db8::' },
);

/** Largest int_ip: an IPv4 address as an unsigned 32-bit integer. */
export const MAX_INT_IP = 0xffff_ffff;
