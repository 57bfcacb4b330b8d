import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PrefixTree } from './prefix-tree.js';

type Bits = string;

/** Prefixes as texts of 0 and 1: the longest that the address begins with. */
class BitTextOracle {
  readonly values = new Map<Bits, number>();

  find(address: Bits): number {
    for (let length = address.length; length >= 0; length--) {
      const value = this.values.get(address.slice(0, length));
      if (value !== undefined) return value;
    }
    return -1;
  }
}

function toWords(bits: Bits): Uint32Array {
  const padded = bits.padEnd(128, '0');
  return Uint32Array.from({ length: 4 }, (_, i) =>
    Number.parseInt(padded.slice(i * 32, i * 32 + 32), 2),
  );
}

/** Few different bits, so that prefixes nest, touch and repeat; some of them long. */
const bits = (width: number): fc.Arbitrary<Bits> =>
  fc
    .tuple(
      fc.array(fc.constantFrom('0000', '0001', '1111', '0110', '1000'), { maxLength: width / 4 }),
      fc.constantFrom('', '0', '1', '01', '110'),
    )
    .map(([nibbles, rest]) => (nibbles.join('') + rest).slice(0, width));

describe.each([
  { family: 'IPv4', width: 32, keyWords: 1 as const },
  { family: 'IPv6', width: 128, keyWords: 4 as const },
])('PrefixTree for $family', ({ width, keyWords }) => {
  it('answers as a list of prefixes does after any puts and deletes', () => {
    const step = fc.record({
      prefix: bits(width),
      remove: fc.boolean(),
      value: fc.nat({ max: 99 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), fc.array(bits(width)), (steps, asked) => {
        const tree = new PrefixTree(keyWords);
        const oracle = new BitTextOracle();
        for (const { prefix, remove, value } of steps) {
          const previous = oracle.values.get(prefix) ?? -1;
          if (remove) {
            expect(tree.delete(toWords(prefix), prefix.length)).toBe(previous);
            oracle.values.delete(prefix);
          } else {
            expect(tree.set(toWords(prefix), prefix.length, value)).toBe(previous);
            oracle.values.set(prefix, value);
          }
        }
        expect(tree.size).toBe(oracle.values.size);
        for (const address of [...asked, ...steps.map((one) => one.prefix)]) {
          for (const filler of ['0', '1']) {
            const full = address.padEnd(width, filler);
            expect(tree.find(toWords(full))).toBe(oracle.find(full));
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('gives back all memory but what it started with', () => {
    const tree = new PrefixTree(keyWords);
    const addresses = Array.from({ length: 30_000 }, (_, i) =>
      toWords((Math.imul(i, 0x9e3779b1) >>> 0).toString(2).padStart(32, '0')),
    );
    const fill = (): void => addresses.forEach((words, i) => tree.set(words, 32, i));
    fill();
    const { bytes } = tree;
    for (let round = 0; round < 5; round++) {
      for (const words of addresses) tree.delete(words, 32);
      expect(tree.size).toBe(0);
      expect(tree.find(addresses[0])).toBe(-1);
      fill();
    }
    expect(tree.bytes).toBe(bytes);
    addresses.forEach((words, i) => expect(tree.find(words)).toBe(i));
  });
});

describe('PrefixTree memory', () => {
  it.each([
    { family: 'IPv4', keyWords: 1 as const },
    { family: 'IPv6', keyWords: 4 as const },
  ])(
    'is at most 48 bytes for each of a million scattered $family networks',
    ({ keyWords }) => {
      const tree = new PrefixTree(keyWords);
      const words = new Uint32Array(4);
      for (let i = 0; i < 1_000_000; i++) {
        const scattered = Math.imul(i ^ (i >>> 7), 0x9e3779b1);
        words[keyWords === 4 ? 1 : 0] = Math.imul(scattered ^ (scattered >>> 15), 0x85ebca6b);
        tree.set(words, keyWords === 4 ? 64 : 32, i);
      }
      expect(tree.size).toBeGreaterThan(990_000);
      expect(tree.bytes / tree.size).toBeLessThan(48);
    },
    30_000,
  );
});
