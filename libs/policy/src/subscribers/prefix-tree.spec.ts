import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Space } from '../memory/space.js';
import { createSpaces } from '../policy-spaces.js';
import { PrefixTree } from './prefix-tree.js';
import { PrefixLookup } from './prefix-lookup.js';
import { SubscriberLookup, SubscriberMatch } from './subscriber-lookup.js';
import { Subscribers } from './subscribers.js';

type Bits = string;

/** Prefixes as texts of 0 and 1: the longest that the address begins with. */
class BitTextOracle {
  readonly values = new Map<Bits, number>();

  find(address: Bits): { value: number; length: number } {
    for (let length = address.length; length >= 0; length--) {
      const value = this.values.get(address.slice(0, length));
      if (value !== undefined) return { value, length };
    }
    return { value: -1, length: 0 };
  }
}

function toWords(bits: Bits): Uint32Array {
  const padded = bits.padEnd(128, '0');
  return Uint32Array.from({ length: 4 }, (_, i) =>
    Number.parseInt(padded.slice(i * 32, i * 32 + 32), 2),
  );
}

/** A tree, and what searches it. */
function tree(keyWords: 1 | 2 | 4, space = new Space()) {
  const networks = new PrefixTree(keyWords, 0, space);
  return { networks, lookup: new PrefixLookup(space, keyWords) };
}

/** The networks of one family of subscribers, and what searches them. */
function networksOf(family: 4 | 6) {
  const spaces = createSpaces();
  const { ipv4Networks, ipv6Networks } = new Subscribers(spaces);
  const subscribers = new SubscriberLookup(spaces);
  const match = new SubscriberMatch();
  const lookup = {
    matchedLength: 0,
    find(words: Uint32Array): number {
      const client = { family, words, port: 0 };
      subscribers.match(client, match);
      lookup.matchedLength = match.prefixLength;
      return subscribers.find(client);
    },
  };
  return { networks: family === 4 ? ipv4Networks : ipv6Networks, lookup };
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
  { what: 'PrefixTree of one word', width: 32, create: () => tree(1) },
  { what: 'PrefixTree of two words', width: 64, create: () => tree(2) },
  { what: 'PrefixTree of four words', width: 128, create: () => tree(4) },
  { what: 'IPv4 networks of Subscribers', width: 32, create: () => networksOf(4) },
  { what: 'IPv6 networks of Subscribers', width: 128, create: () => networksOf(6) },
])('$what', ({ width, create }) => {
  it('finds the same prefix as a scan of a list after any puts and deletes', () => {
    const step = fc.record({
      prefix: bits(width),
      remove: fc.boolean(),
      value: fc.nat({ max: 99 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), fc.array(bits(width)), (steps, asked) => {
        const { networks, lookup } = create();
        const oracle = new BitTextOracle();
        // A matcher for each step and address would take longer than all the rest.
        for (const { prefix, remove, value } of steps) {
          const previous = oracle.values.get(prefix) ?? -1;
          const found = remove
            ? networks.delete(toWords(prefix), prefix.length)
            : networks.set(toWords(prefix), prefix.length, value);
          if (found !== previous) expect({ prefix, found }).toEqual({ prefix, found: previous });
          if (remove) oracle.values.delete(prefix);
          else oracle.values.set(prefix, value);
        }
        expect(networks.size).toBe(oracle.values.size);
        for (const address of [...asked, ...steps.map((one) => one.prefix)]) {
          for (const filler of ['0', '1']) {
            const full = address.padEnd(width, filler);
            const expected = oracle.find(full);
            const value = lookup.find(toWords(full));
            const length = value >= 0 ? lookup.matchedLength : 0;
            const isRight = value === expected.value && length === expected.length;
            if (!isRight) expect({ full, value, length }).toEqual({ full, ...expected });
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('needs no more memory when all networks are deleted and inserted again', () => {
    const { networks, lookup } = create();
    const addresses = Array.from({ length: 30_000 }, (_, i) =>
      toWords((Math.imul(i, 0x9e3779b1) >>> 0).toString(2).padStart(32, '0')),
    );
    const fill = (): void => addresses.forEach((words, i) => networks.set(words, 32, i));
    fill();
    const { bytes } = networks;
    for (let round = 0; round < 5; round++) {
      for (const words of addresses) networks.delete(words, 32);
      expect(networks.size).toBe(0);
      expect(lookup.find(addresses[0])).toBe(-1);
      fill();
    }
    expect(networks.bytes).toBeLessThan(bytes * 1.05);
    expect(addresses.filter((words, i) => lookup.find(words) !== i)).toEqual([]);
  });
});

/** A different word for each index, as if by chance. */
function scattered(i: number): number {
  const mixed = Math.imul(i ^ (i >>> 7), 0x9e3779b1);
  return Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
}

describe('PrefixTree where addresses are negative words', () => {
  it('inserts, finds and removes prefixes as at other addresses', () => {
    // The first chunk has the roots.
    const space = new Space();
    const add = space.add.bind(space);
    space.add = (words) => {
      const chunk = add(words);
      while (space.chunks.length < 2 ** 11) add(0);
      return chunk;
    };
    const { networks, lookup } = tree(1, space);
    const addresses = Array.from({ length: 20_000 }, (_, i) => Uint32Array.of(scattered(i)));
    addresses.forEach((words, i) => networks.set(words, 32, i));
    expect(addresses.filter((words, i) => lookup.find(words) !== i)).toEqual([]);
    expect(addresses.filter((words, i) => networks.delete(words, 32) !== i)).toEqual([]);
    expect(networks.size).toBe(0);
  });
});

describe('the memory of networks', () => {
  const MOST_BYTES = 48;

  it('is at most 48 bytes for each of a million scattered IPv4 networks', () => {
    const { networks } = networksOf(4);
    for (let i = 0; i < 1_000_000; i++) networks.set(Uint32Array.of(scattered(i)), 32, i);
    expect(networks.size).toBeGreaterThan(990_000);
    expect(networks.bytes / networks.size).toBeLessThan(MOST_BYTES);
  });

  it.each([200_000, 1_000_000])(
    'is at most 48 bytes for each of %i scattered IPv6 networks, /48 to /64',
    (count) => {
      const { networks } = networksOf(6);
      for (let i = 0; i < count; i++) {
        const length = 48 + (i % 3) * 8;
        const second = scattered(i) & (-1 << (64 - length));
        networks.set(Uint32Array.of(0x2001_0db8, second, 0, 0), length, i);
      }
      expect(networks.size).toBeGreaterThan(count * 0.7);
      expect(networks.bytes / networks.size).toBeLessThan(MOST_BYTES);
    },
  );
});
