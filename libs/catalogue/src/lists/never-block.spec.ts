import { SuffixHashes, toWireName } from '@weir/dns-name';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NeverBlock } from './never-block.js';
import { KEY } from './testing/lists.js';

/** Few names, so that many of them are above or below others. */
const domain = fc
  .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 })
  .map((labels) => `${labels.join('.')}.example`);

describe('NeverBlock', () => {
  it('finds a domain that is the listed name, or above or below it, as comparing texts does', () => {
    const hashes = new SuffixHashes(KEY);
    fc.assert(
      fc.property(fc.array(domain, { maxLength: 4 }), domain, (never, listed) => {
        const blocked = never.filter(
          (name) => name === listed || name.endsWith(`.${listed}`) || listed.endsWith(`.${name}`),
        );
        hashes.compute(toWireName(listed), 0);
        const found = new NeverBlock(never, KEY).blockedBy(hashes);
        if (blocked.length === 0) expect(found).toBeUndefined();
        else expect(blocked).toContain(found);
      }),
      { numRuns: 1_000 },
    );
  });
});
