import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toWireName } from './domain.js';
import { parseHashKey } from './sip-instance.js';
import { hashDomain, SuffixHashes } from './suffix-hashes.js';
import { sipHashReference } from './testing/sip-hash-reference.js';

const KEY_HEX = '0123456789abcdef00112233445566ff';
const KEY = parseHashKey(KEY_HEX);

/** A label of any bytes: on the wire a name may hold more than the normal form allows. */
const label = fc.uint8Array({ minLength: 1, maxLength: 63 });
const labels = fc.array(label, { maxLength: 20 }).filter((all) => wire(all).length <= 255);

function wire(all: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from([...all.flatMap((bytes) => [bytes.length, ...bytes]), 0]);
}

function lower(byte: number): number {
  return byte >= 65 && byte <= 90 ? byte + 32 : byte;
}

/** As decisions §8 defines it: each label from the root's side, length byte then lower-case bytes. */
function expectedHash(suffix: readonly Uint8Array[]): bigint {
  const input = suffix.toReversed().flatMap((bytes) => [bytes.length, ...bytes].map(lower));
  return sipHashReference(Uint8Array.from(input), Buffer.from(KEY_HEX, 'hex'));
}

function hashesOf(hashes: SuffixHashes): bigint[] {
  return Array.from(
    { length: hashes.count },
    (_, i) => (BigInt(hashes.high[i]) << 32n) | BigInt(hashes.low[i]),
  );
}

function xorshift(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/**
 * One to eight labels of any bytes, mostly short: the wire name, the input of the hash and the end of each suffix in
 * it.
 */
function randomName(random: () => number): {
  wireName: Uint8Array;
  rootFirst: Uint8Array;
  ends: number[];
} {
  const all = Array.from({ length: 1 + (random() % 8) }, () => {
    const length = random() % 16 === 0 ? 1 + (random() % 31) : 1 + (random() % 12);
    return Uint8Array.from({ length }, random);
  });
  const rootFirst = all.toReversed().flatMap((bytes) => [bytes.length, ...bytes].map(lower));
  const ends: number[] = [];
  for (const bytes of all.toReversed()) ends.push((ends.at(-1) ?? 0) + bytes.length + 1);
  return { wireName: wire(all), rootFirst: Uint8Array.from(rootFirst), ends };
}

describe('SuffixHashes', () => {
  const hashes = new SuffixHashes(KEY);

  it('hashes every suffix of any name, from the top-level domain down', () => {
    fc.assert(
      fc.property(labels, fc.nat({ max: 20 }), (all, offset) => {
        const bytes = new Uint8Array(offset + 300);
        bytes.set(wire(all), offset);
        expect(hashes.compute(bytes, offset)).toBe(all.length);
        const suffixes = all.map((_, i) => all.slice(all.length - 1 - i));
        expect(hashesOf(hashes)).toEqual(suffixes.map(expectedHash));
      }),
      { numRuns: 300 },
    );
  });

  it('agrees with 64-bit arithmetic on 200,000 suffixes of random names under random keys', () => {
    const random = xorshift(0x5eed);
    const keyBytes = new Uint8Array(16);
    let hasher = hashes;
    let suffixes = 0;
    for (let n = 0; suffixes < 200_000; n++) {
      if (n % 1000 === 0) {
        for (let i = 0; i < 16; i++) keyBytes[i] = random();
        hasher = new SuffixHashes(parseHashKey(Buffer.from(keyBytes).toString('hex')));
      }
      const { wireName, rootFirst, ends } = randomName(random);
      const count = hasher.compute(wireName, 0);
      if (count !== ends.length) expect(count).toBe(ends.length);
      for (let i = 0; i < count; i++, suffixes++) {
        const expected = sipHashReference(rootFirst.subarray(0, ends[i]), keyBytes);
        const isRight =
          hasher.high[i] === Number(expected >> 32n) &&
          hasher.low[i] === Number(expected & 0xffff_ffffn);
        if (!isRight) expect(hashesOf(hasher)[i]).toBe(expected);
      }
    }
    expect(suffixes).toBeGreaterThanOrEqual(200_000);
  });

  it('gives the same hashes for upper and lower case', () => {
    hashes.compute(toWireName('www.example.com'), 0);
    const plain = hashesOf(hashes);
    hashes.compute(toWireName('wWw.EXAMPLE.cOm'), 0);
    expect(hashesOf(hashes)).toEqual(plain);
  });

  it('returns 0 for the root', () => {
    expect(hashes.compute(Uint8Array.of(0), 0)).toBe(0);
    expect(hashes.count).toBe(0);
  });

  it('hashes the longest name: 127 labels in 255 bytes', () => {
    const name = wire(Array.from({ length: 127 }, () => Uint8Array.of(0x61)));
    expect(name).toHaveLength(255);
    expect(hashes.compute(name, 0)).toBe(127);
  });

  it.each([
    [
      'a name of 256 bytes',
      wire([...Array.from({ length: 126 }, () => Uint8Array.of(0x61)), Uint8Array.of(1, 2)]),
    ],
    ['a compression pointer (RFC 1035 §4.1.4)', Uint8Array.of(1, 0x61, 0xc0, 0x0c)],
    ['a label of 64 bytes', Uint8Array.of(64, ...Array.from({ length: 64 }, () => 0x61), 0)],
    ['a name that does not end', Uint8Array.of(3, 0x77, 0x77, 0x77)],
    ['a label that is cut off', Uint8Array.of(3, 0x77)],
    ['no bytes at all', new Uint8Array()],
  ])('refuses %s', (_, bytes) => {
    hashes.compute(toWireName('example.com'), 0);
    expect(hashes.compute(bytes, 0)).toBe(-1);
    expect(hashes.count).toBe(0);
  });
});

describe('hashDomain', () => {
  it('is the low 53 bits of the longest suffix hash', () => {
    const suffix = ['www', 'example', 'com'].map((text) => new Uint8Array(Buffer.from(text)));
    expect(hashDomain('www.example.com', KEY)).toBe(
      Number(BigInt.asUintN(53, expectedHash(suffix))),
    );
  });

  it('depends on the key', () => {
    const other = parseHashKey('ff'.repeat(16));
    expect(hashDomain('example.com', other)).not.toBe(hashDomain('example.com', KEY));
  });

  it('never changes, as stored rules are found by it', () => {
    expect(hashDomain('www.example.com', KEY)).toBe(6_226_598_544_744_627);
  });
});
