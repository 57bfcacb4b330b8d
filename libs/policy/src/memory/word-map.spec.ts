import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WordMap } from './word-map.js';

describe('WordMap', () => {
  it('has the same entries as a map after any puts and deletes', () => {
    const step = fc.record({
      key: fc.oneof(fc.integer({ min: -20, max: 20 }), fc.constantFrom(0x7fff_ffff, -0x8000_0000)),
      value: fc.oneof(fc.nat({ max: 0x7fff_fffe }), fc.integer({ min: -0x8000_0000, max: -2 })),
      remove: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const map = new WordMap();
        const oracle = new Map<number, number>();
        for (const { key, value, remove } of steps) {
          if (remove) {
            map.delete(key);
            oracle.delete(key);
          } else {
            map.set(key, value);
            oracle.set(key, value);
          }
        }
        for (const { key } of steps) expect(map.find(key)).toBe(oracle.get(key) ?? -1);
      }),
    );
  });

  it('holds as many keys as there are shared addresses', () => {
    const map = new WordMap();
    const all = Array.from({ length: 300_000 }, (_, i) => i);
    for (const i of all) map.set(0x6440_0000 + i, i);
    expect(all.filter((i) => map.find(0x6440_0000 + i) !== i)).toEqual([]);
    expect(map.find(0x643f_ffff)).toBe(-1);
  });
});
