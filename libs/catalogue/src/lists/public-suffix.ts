import { getPublicSuffix } from 'tldts-icann';

/** The name is a domain in normal form: nothing is to be looked for in it. */
const PLAIN = {
  detectIp: false,
  extractHostname: false,
  mixedInputs: false,
  validateHostname: false,
};

/**
 * Whether a registry lets others register names below this one: `com`, `co.uk`, every single label.
 * @param domain in normal form.
 *
 * Source: the ICANN section of publicsuffix.org. The private section (`github.io`, `duckdns.org`) has the names of
 * companies: lists of dynamic DNS or of web hosts name them on purpose.
 */
export function isPublicSuffix(domain: string): boolean {
  return getPublicSuffix(domain, PLAIN) === domain;
}
