import { DomainError, normaliseDomain } from '@weir/dns-name';
import type { Check } from '../../http/validation/checks.js';

/** A domain in any form that `normaliseDomain` accepts. The fault says what is wrong, and never repeats the domain. */
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
