import { DomainError, normaliseDomain } from '@weir/dns-name';
import { parseIpv4 } from '../addresses/ipv4.js';
import { parseIpv6 } from '../addresses/ipv6.js';
import { type Check, integer, oneOf, textForm } from '../validation/checks.js';

/** Values that several resources of the contract share. */

export const ruleStatus = oneOf(['allow', 'deny']);

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

/** A domain in any form that `normaliseDomain` takes. The fault says what is wrong with it, and never which it was. */
export const domain: Check = {
  schema: { type: 'string', format: 'idn-hostname', maxLength: 1024, example: 'example.com' },
  faults: (value) => {
    if (typeof value !== 'string') {
      return [{ loc: [], msg: 'Must be a domain name', type: 'string_type' }];
    }
    const reason = domainFault(value);
    return reason === null ? [] : [{ loc: [], msg: `Domain ${reason}`, type: 'value_error' }];
  },
};

function domainFault(text: string): string | null {
  try {
    normaliseDomain(text);
    return null;
  } catch (error) {
    if (error instanceof DomainError) return error.message;
    throw error;
  }
}
