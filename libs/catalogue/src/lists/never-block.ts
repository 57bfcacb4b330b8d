import { type HashKey, SuffixHashes, SuffixTable, toWireName } from '@weir/dns-name';
import { getPublicSuffix } from 'tldts-icann';
import { type ListExample, MAX_EXAMPLES } from './list.js';

/** The name is a domain in normal form: nothing is to be looked for in it. */
const PLAIN = {
  detectIp: false,
  extractHostname: false,
  mixedInputs: false,
  validateHostname: false,
};

/**
 * Whether a registry lets others register names below this one, in normal form: `com`, `co.uk`, every single label.
 * Source: the ICANN section of publicsuffix.org. The private one has names that lists block on purpose (`duckdns.org`).
 */
export function isPublicSuffix(domain: string): boolean {
  return getPublicSuffix(domain, PLAIN) === domain;
}

/**
 * The domains of `never_block`, and the lines of a list that would block one: the same name, a parent, or one below.
 */
export class NeverBlock {
  /** The first ten. */
  readonly lines: ListExample[] = [];
  private readonly own: SuffixTable<string>;
  private readonly parents: SuffixTable<string>;

  /** @param domains in normal form. */
  constructor(domains: readonly string[], key: HashKey) {
    this.own = new SuffixTable(domains.length);
    this.parents = new SuffixTable(domains.reduce((sum, name) => sum + name.split('.').length, 0));
    const hashes = new SuffixHashes(key);
    for (const domain of domains) {
      const last = hashes.compute(toWireName(domain), 0) - 1;
      this.own.set(hashes, last, domain);
      for (let parent = 0; parent < last; parent++) this.parents.set(hashes, parent, domain);
    }
  }

  /** Whether the name of `hashes` would block one of the domains. Then it keeps the line, up to `MAX_EXAMPLES`. */
  protects(hashes: SuffixHashes, line: number): boolean {
    const domain = this.blockedBy(hashes);
    if (domain !== undefined && this.lines.length < MAX_EXAMPLES) {
      this.lines.push({ line, problem: `would block ${domain} of never_block` });
    }
    return domain !== undefined;
  }

  /** The domain that a list would block by naming the name of `hashes`; undefined: none. */
  blockedBy(hashes: SuffixHashes): string | undefined {
    const last = hashes.count - 1;
    for (let suffix = 0; suffix <= last; suffix++) {
      const domain = this.own.get(hashes, suffix);
      if (domain !== undefined) return domain;
    }
    return this.parents.get(hashes, last);
  }
}
