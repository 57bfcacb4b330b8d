import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COUNT_MASK } from './pair-block.js';
import { REFERENCE_WORDS } from './pair-lookup.js';
import { PairTables } from './pair-tables.js';
import { wordOf } from './space.js';

const KEY_BITS = 0xff;
const VALUE = 1 << 20;

/** A table as a map: a and the key of b, to b. */
class MapOracle {
  private readonly entries = new Map<string, number>();

  get size(): number {
    return this.entries.size;
  }

  find(a: number, b: number): number {
    return this.entries.get(`${a} ${b & KEY_BITS}`) ?? 0;
  }

  set(a: number, b: number): number {
    const previous = this.find(a, b);
    this.entries.set(`${a} ${b & KEY_BITS}`, b);
    return previous;
  }

  delete(a: number, b: number): number {
    const previous = this.find(a, b);
    this.entries.delete(`${a} ${b & KEY_BITS}`);
    return previous;
  }
}

/** As hashes are: a multiplication alone would space consecutive numbers evenly, and hardly any two would meet. */
const scattered = (i: number): number => {
  let mixed = Math.imul(i ^ (i >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return (mixed ^ (mixed >>> 16)) | 0;
};

/** The number of entries of a table: the sum of what the heads of its blocks say. */
function countOf({ lookup }: PairTables, references: Int32Array, at: number): number {
  const [address, shape] = references.subarray(at, at + REFERENCE_WORDS);
  if (shape === 0) return 0;
  const start = wordOf(address);
  const leaves = lookup.wordsAt(address).subarray(start, start + (1 << ~shape));
  const blocks = shape > 0 ? [address] : [...new Set(leaves)];
  const heads = blocks.map((block) => lookup.wordsAt(block)[wordOf(block)]);
  return heads.reduce((sum, head) => sum + (head & COUNT_MASK), 0);
}

describe('PairTables', () => {
  it('has the same entries as maps after any puts and deletes in several tables', () => {
    const step = fc.record({
      table: fc.nat({ max: 2 }),
      a: fc.oneof(
        fc.constantFrom(0, 1, -1, 65_536, 0x7fff_ffff, 0x7fff_fffe, -0x8000_0000),
        fc.integer({ min: -40, max: 40 }),
      ),
      key: fc.nat({ max: 2 }),
      value: fc.constantFrom(VALUE, 2 * VALUE, -VALUE),
      remove: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const tables = new PairTables(KEY_BITS);
        const references = new Int32Array(3 * REFERENCE_WORDS);
        const oracles = [new MapOracle(), new MapOracle(), new MapOracle()];
        for (const { table, a, key, value, remove } of steps) {
          const at = table * REFERENCE_WORDS;
          const oracle = oracles[table];
          if (remove) {
            expect(tables.delete(references, at, a, key)).toBe(oracle.delete(a, key));
          } else {
            expect(tables.set(references, at, a, value | key)).toBe(oracle.set(a, value | key));
          }
          expect(countOf(tables, references, at)).toBe(oracle.size);
        }
        for (const { a, key } of steps) {
          oracles.forEach((oracle, table) => {
            const at = table * REFERENCE_WORDS;
            expect(tables.lookup.find(references, at, a, key)).toBe(oracle.find(a, key));
            const isThere = [0, 1, 2].some((one) => oracle.find(a, one) !== 0);
            const mask = tables.lookup.candidateMask(references, at, Uint32Array.of(a ^ 1, a), 2);
            if (isThere) expect(mask & 2).toBe(2);
          });
        }
      }),
      { numRuns: 300 },
    );
  });

  it('keeps every entry of a large table while it grows, is split, shrinks and grows again', () => {
    const tables = new PairTables(KEY_BITS);
    const reference = new Int32Array(REFERENCE_WORDS);
    const entries = 200_000;
    const set = (i: number): number => tables.set(reference, 0, scattered(i), VALUE | (i & 7));
    const has = (i: number): boolean =>
      tables.lookup.find(reference, 0, scattered(i), i & 7) === (VALUE | (i & 7));
    const stays = (i: number): boolean => i % 10 === 0;
    for (let i = 0; i < entries; i++) set(i);
    expect(countOf(tables, reference, 0)).toBe(entries);
    const { bytes } = tables;
    for (let i = 0; i < entries; i++) {
      if (!stays(i)) tables.delete(reference, 0, scattered(i), i & 7);
    }
    expect(countOf(tables, reference, 0)).toBe(entries / 10);
    const wrong = Array.from({ length: entries }, (_, i) => i).filter((i) => has(i) !== stays(i));
    expect(wrong).toEqual([]);
    for (let i = 0; i < entries; i++) set(i);
    expect(countOf(tables, reference, 0)).toBe(entries);
    expect(Array.from({ length: entries }, (_, i) => i).filter((i) => !has(i))).toEqual([]);
    expect(tables.bytes).toBeLessThan(bytes * 1.25);
  });

  it('releases the memory of a table when its last entry is deleted', () => {
    const tables = new PairTables(KEY_BITS);
    const reference = new Int32Array(REFERENCE_WORDS);
    const bytes: number[] = [];
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 100_000; i++) tables.set(reference, 0, scattered(i), VALUE);
      for (let i = 0; i < 100_000; i++) tables.delete(reference, 0, scattered(i), 0);
      expect([...reference]).toEqual([0, 0]);
      bytes.push(tables.bytes);
    }
    expect(bytes[3]).toBe(bytes[0]);
  });

  it('needs at most 24 bytes an entry in 10,000 tables of 100 entries, and in one of a million', () => {
    const many = new PairTables(KEY_BITS);
    const references = new Int32Array(10_000 * REFERENCE_WORDS);
    const one = new PairTables(KEY_BITS);
    const reference = new Int32Array(REFERENCE_WORDS);
    for (let i = 0; i < 1_000_000; i++) {
      many.set(references, Math.floor(i / 100) * REFERENCE_WORDS, scattered(i), VALUE);
      one.set(reference, 0, scattered(i), VALUE);
    }
    expect(many.bytes / 1_000_000).toBeLessThan(24);
    expect(one.bytes / 1_000_000).toBeLessThan(24);
  });

  it('needs at most 24 bytes an entry in 10,000 tables that grow in turns, from ten entries each', () => {
    const tables = new PairTables(KEY_BITS);
    const references = new Int32Array(10_000 * REFERENCE_WORDS);
    for (let i = 0; i < 1_000_000; i++) {
      tables.set(references, (i % 10_000) * REFERENCE_WORDS, scattered(i), VALUE);
      const entries = i + 1;
      if (entries >= 100_000 && entries % 10_000 === 0) {
        expect(tables.bytes / entries, `at ${entries} entries`).toBeLessThan(24);
      }
    }
  });

  it('needs at most 24 bytes an entry in tables that grow at random', () => {
    const tables = new PairTables(KEY_BITS);
    const references = new Int32Array(2000 * REFERENCE_WORDS);
    for (let i = 0; i < 200_000; i++) {
      const chance = (scattered(scattered(i)) >>> 0) / 2 ** 32;
      const at = Math.floor(chance * 2000) * REFERENCE_WORDS;
      tables.set(references, at, scattered(i), VALUE);
    }
    expect(tables.bytes / 200_000).toBeLessThan(24);
  });

  it('has a candidate bit for at most one key in forty that is not stored', () => {
    const tables = new PairTables(KEY_BITS);
    const references = new Int32Array(1000 * REFERENCE_WORDS);
    for (let i = 0; i < 100_000; i++) {
      tables.set(references, Math.floor(i / 100) * REFERENCE_WORDS, scattered(i), VALUE);
    }
    let strangers = 0;
    for (let i = 100_000; i < 200_000; i++) {
      const at = (i % 1000) * REFERENCE_WORDS;
      strangers += tables.lookup.candidateMask(references, at, Uint32Array.of(scattered(i)), 1);
    }
    // 2,213 of them, where 100 entries have 140 positions.
    expect(strangers).toBeLessThan(2500);
  });

  it('has no candidate bit for most keys that were deleted', () => {
    const tables = new PairTables(KEY_BITS);
    const reference = new Int32Array(REFERENCE_WORDS);
    for (let i = 0; i < 100; i++) tables.set(reference, 0, scattered(i), VALUE);
    const deleted = Array.from({ length: 40 }, (_, i) => i);
    for (const i of deleted) tables.delete(reference, 0, scattered(i), 0);
    const as = (i: number): Uint32Array => Uint32Array.of(scattered(i));
    const left = deleted.filter((i) => tables.lookup.candidateMask(reference, 0, as(i), 1) !== 0);
    expect(left.length).toBeLessThan(4);
  });

  it('splits by the low bits of a when its high bits are all the same', () => {
    const tables = new PairTables(0);
    const reference = new Int32Array(REFERENCE_WORDS);
    for (let i = 0; i < 30_000; i++) tables.set(reference, 0, 0x7fff_0000 | i, i + 1);
    const all = Array.from({ length: 30_000 }, (_, i) => i);
    const found = (i: number): boolean =>
      tables.lookup.find(reference, 0, 0x7fff_0000 | i, 0) === i + 1;
    expect(all.filter((i) => !found(i))).toEqual([]);
  });

  it('refuses more entries of the same a than a block can hold, and keeps the others', () => {
    const tables = new PairTables(-1);
    const reference = new Int32Array(REFERENCE_WORDS);
    const fill = (): void => {
      for (let b = 1; b <= 10_000; b++) tables.set(reference, 0, 5, b);
    };
    expect(fill).toThrow(RangeError);
    expect(tables.lookup.find(reference, 0, 5, 1)).toBe(1);
    expect(tables.lookup.find(reference, 0, 5, 500)).toBe(500);
  });
});
