import { type HashKey, SuffixHashes, SuffixTable, toWireName } from '@weir/dns-name';
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

/** The domains of `never_block`. A listed name blocks one of them when it is the same, a parent of it, or below it. */
export class NeverBlock {
  private readonly own: SuffixTable;
  private readonly parents: SuffixTable;

  /** @param domains in normal form. */
  constructor(
    private readonly domains: readonly string[],
    key: HashKey,
  ) {
    const wireNames = domains.map((domain) => toWireName(domain));
    this.own = new SuffixTable(domains.length);
    this.parents = new SuffixTable(domains.reduce((sum, name) => sum + name.split('.').length, 0));
    const hashes = new SuffixHashes(key);
    wireNames.forEach((name, index) => {
      const last = hashes.compute(name, 0) - 1;
      this.own.set(hashes, last, index);
      for (let parent = 0; parent < last; parent++) this.parents.set(hashes, parent, index);
    });
  }

  /** The domain that a list would block by naming the name of `hashes`; undefined: none. */
  blockedBy(hashes: SuffixHashes): string | undefined {
    const last = hashes.count - 1;
    for (let suffix = 0; suffix <= last; suffix++) {
      const index = this.own.get(hashes, suffix);
      if (index !== SuffixTable.absent) return this.domains[index];
    }
    return this.domains[this.parents.get(hashes, last)];
  }
}
