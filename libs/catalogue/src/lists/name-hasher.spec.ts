import { DomainError, normaliseDomain, SuffixHashes, toWireName } from '@weir/dns-name';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KEY } from './testing/lists.js';
import { NameHasher } from './name-hasher.js';

const hasher = new NameHasher(KEY);
const oracle = new SuffixHashes(KEY);

type Hashed = readonly [high: number, low: number, domain: string];

/** The hash that the normal form has, or what is wrong with the text. */
function expected(text: string): string | Hashed {
  try {
    const domain = normaliseDomain(text);
    const last = oracle.compute(toWireName(domain), 0) - 1;
    return [oracle.high[last], oracle.low[last], domain];
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return error.message;
  }
}

function taken(text: string): string | Hashed {
  const bytes = Buffer.from(`<${text}>`);
  const problem = hasher.hash(bytes, 1, bytes.length - 1);
  const { count, high, low } = hasher.hashes;
  return problem ?? [high[count - 1], low[count - 1], hasher.domain()];
}

describe('NameHasher', () => {
  it('accepts the same texts as normaliseDomain, with the same hashes and normal forms', () => {
    const label = fc.oneof(
      fc.string({ unit: fc.constantFrom(...Array.from('abzAZ019-_')), maxLength: 6 }),
      fc.constantFrom('xn--bcher-kva', 'xn--a', 'xn--', 'ab--c', 'bücher', 'ß', 'x'.repeat(63)),
      fc.constantFrom('x'.repeat(64), '*', ' ', '0', '255', '', 'a'),
    );
    const name = fc
      .tuple(fc.array(label, { minLength: 1, maxLength: 8 }), fc.constantFrom('', '.', '..'))
      .map(([labels, end]) => labels.join('.') + end);
    fc.assert(
      fc.property(fc.oneof(name, fc.string(), fc.domain()), (text) => {
        expect(taken(text)).toEqual(expected(text));
      }),
      { numRuns: 5_000 },
    );
  });

  it('agrees with normaliseDomain on the longest names and on addresses', () => {
    const long = (length: number) => 'a.'.repeat(200).slice(0, length - 1) + 'b';
    for (const text of [long(252), long(253), `${long(253)}.`, long(254), long(255)]) {
      expect(taken(text)).toEqual(expected(text));
    }
    for (const text of ['192.0.2.1', '192.0.2', '1.2.3.4.5', 'a.1', '.', '', '1']) {
      expect(taken(text)).toEqual(expected(text));
    }
  });
});
