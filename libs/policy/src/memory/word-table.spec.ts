import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WordTable } from './word-table.js';

const VALUE_BIT = 1 << 30;
/** Keeps b from being 0. */
const MARK = 1 << 20;

describe('WordTable', () => {
  it('holds what a map holds after any puts and deletes', () => {
    const step = fc.record({
      a: fc.constantFrom(0, 1, -1, 5, 4096, 0x7fff_ffff, -0x8000_0000),
      b: fc.nat({ max: 3 }),
      c: fc.nat({ max: 3 }),
      value: fc.boolean(),
      remove: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const table = new WordTable(~VALUE_BIT, -1);
        const oracle = new Map<string, number>();
        for (const { a, b, c, value, remove } of steps) {
          const key = `${a} ${b} ${c}`;
          const word = MARK | (value ? VALUE_BIT : 0) | b;
          if (remove) {
            expect(table.delete(a, MARK | b, c)).toBe(oracle.delete(key));
          } else {
            table.set(a, word, c);
            oracle.set(key, word);
          }
          expect(table.findB(a, MARK | b, c)).toBe(oracle.get(key) ?? 0);
          expect(table.size).toBe(oracle.size);
        }
        for (const { a, b, c } of steps) {
          expect(table.findB(a, MARK | b, c)).toBe(oracle.get(`${a} ${b} ${c}`) ?? 0);
        }
      }),
    );
  });

  it('keeps every entry through growth, random removal and regrowth, with the same domain in many profiles', () => {
    const table = new WordTable(~VALUE_BIT, -1);
    const rules = Array.from({ length: 200_000 }, (_, i) => ({
      a: Math.imul(i % 100, 0x9e37_79b1),
      c: Math.floor(i / 100),
    }));
    for (const { a, c } of rules) table.set(a, MARK | 7, c);
    expect(table.size).toBe(rules.length);
    const stays = (i: number): boolean => (Math.imul(i, 0x85eb_ca6b) >>> 16) % 10 === 0;
    rules.forEach(({ a, c }, i) => {
      if (!stays(i)) expect(table.delete(a, MARK | 7, c)).toBe(true);
    });
    const wrong = rules.filter(({ a, c }, i) => (table.findB(a, MARK | 7, c) !== 0) !== stays(i));
    expect(wrong).toEqual([]);
    for (const { a, c } of rules) table.set(a, MARK | 7, c);
    expect(rules.filter(({ a, c }) => table.findB(a, MARK | 7, c) !== (MARK | 7))).toEqual([]);
    expect(rules.filter(({ a, c }) => table.findB(a ^ 1, MARK | 7, c) !== 0)).toEqual([]);
  }, 30_000);

  it('never misses an entry in its filter, and takes at most one stranger in twenty for one', () => {
    const table = new WordTable(-1, -1);
    const entries = 200_000;
    for (let i = 0; i < entries; i++) table.set(i, MARK, i % 100);
    let found = 0;
    let strangers = 0;
    for (let i = 0; i < entries; i++) {
      found += table.mayHave(i, i % 100);
      strangers += table.mayHave(i, (i % 100) + 100);
    }
    expect(found).toBe(entries);
    expect(strangers / entries).toBeLessThan(0.05);
  });

  it('does not fill its filter with entries that went', () => {
    const table = new WordTable(-1, -1);
    const kept = 20_000;
    for (let i = 0; i < 400_000; i++) {
      table.set(i, MARK, 0);
      if (i >= kept) table.delete(i - kept, MARK, 0);
    }
    let strangers = 0;
    for (let i = 400_000; i < 500_000; i++) strangers += table.mayHave(i, 0);
    expect(table.size).toBe(kept);
    expect(strangers / 100_000).toBeLessThan(0.15);
    for (let i = 400_000 - kept; i < 400_000; i++) expect(table.mayHave(i, 0)).toBe(1);
  });

  it('takes at most 24 bytes an entry at any size from a hundred thousand', () => {
    const table = new WordTable(-1, -1);
    for (let i = 1; i <= 400_000; i++) {
      table.set(Math.imul(i, 0x9e37_79b1), MARK, i % 1000);
      if (i >= 100_000 && i % 10_000 === 0) expect(table.bytes / i).toBeLessThan(24);
    }
  });

  it('gives memory back when entries go', () => {
    const table = new WordTable(-1, -1);
    for (let i = 0; i < 100_000; i++) table.set(i, MARK, 0);
    const { bytes } = table;
    for (let i = 0; i < 100_000; i++) table.delete(i, MARK, 0);
    expect(table.bytes).toBeLessThan(bytes / 3);
    expect(table.size).toBe(0);
  });

  it('finds word c where the key is a and b alone', () => {
    const table = new WordTable(-1, 0);
    table.set(7, MARK, 41);
    table.set(7, MARK, 42);
    expect(table.findC(7, MARK)).toBe(42);
    expect(table.findC(8, MARK)).toBe(-1);
    expect(table.size).toBe(1);
    expect(table.delete(7, MARK, 0)).toBe(true);
    expect(table.findC(7, MARK)).toBe(-1);
  });
});
