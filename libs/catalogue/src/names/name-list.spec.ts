import { parseHashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CatalogueError } from '../catalogue-error.js';
import { NameList } from './name-list.js';

const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');
const OTHER_KEY = parseHashKey('ff'.repeat(16));

function hashOf(domain: string): bigint {
  const hashes = new SuffixHashes(KEY);
  const last = hashes.compute(toWireName(domain), 0) - 1;
  return (BigInt(hashes.high[last]) << 32n) | BigInt(hashes.low[last]);
}

describe('NameList', () => {
  it('has the hash of each domain once, ascending', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 3000 })), (numbers) => {
        const domains = numbers.map((n) => `d${n}.example`);
        const list = NameList.of(domains, KEY);
        const expected = [...new Set(domains)].map(hashOf).sort((a, b) => (a < b ? -1 : 1));
        const held = Array.from(
          { length: list.count },
          (_, i) => (BigInt(list.words[i * 2 + 1]) << 32n) | BigInt(list.words[i * 2]),
        );
        expect(held).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });

  it('is the names that another one does not have', () => {
    const some = fc.array(fc.nat({ max: 30 }));
    fc.assert(
      fc.property(some, some, (numbers, gone) => {
        const list = (of: number[]) =>
          NameList.of(
            of.map((n) => `d${n}.example`),
            KEY,
          );
        const rest = numbers.filter((n) => !gone.includes(n));
        expect(list(numbers).without(list(gone)).words).toEqual(list(rest).words);
      }),
    );
  });

  it('grows to any number of names', () => {
    const domains = Array.from({ length: 5_000 }, (_, n) => `d${n}.example`);
    expect(NameList.of([...domains, ...domains], KEY).count).toBe(5_000);
  });
});

describe('NameList.fromBytes', () => {
  const list = NameList.of(['a.example', 'b.example'], KEY);
  const sound = list.toBytes(KEY);

  it('returns the list that toBytes stored, at any offset of its buffer', () => {
    const shifted = new Uint8Array(sound.length + 1).subarray(1);
    shifted.set(sound);
    expect(NameList.fromBytes(shifted, KEY).words).toEqual(list.words);
    const empty = NameList.of([], KEY);
    expect(NameList.fromBytes(empty.toBytes(KEY), KEY).count).toBe(0);
  });

  it('refuses bytes when any one is changed', () => {
    for (let i = 0; i < sound.length; i++) {
      const broken = sound.slice();
      broken[i] ^= 0x10;
      expect(() => NameList.fromBytes(broken, KEY), `byte ${i}`).toThrow(CatalogueError);
    }
  });

  it('refuses bytes that are too short or too long', () => {
    for (let length = 0; length < sound.length; length++) {
      expect(() => NameList.fromBytes(sound.subarray(0, length), KEY)).toThrow(CatalogueError);
    }
    const longer = Buffer.concat([sound, new Uint8Array(8)]);
    expect(() => NameList.fromBytes(longer, KEY)).toThrow('not as long as it says');
  });

  it('refuses a list made under another key', () => {
    expect(() => NameList.fromBytes(sound, OTHER_KEY)).toThrow('another DOMAIN_HASH_KEY');
  });
});
