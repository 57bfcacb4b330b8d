import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TopCounts } from './top-counts.js';

describe('TopCounts', () => {
  it('counts exactly while there is room', () => {
    const top = new TopCounts<string>(3);
    for (const key of [7, 8, 7, 9, 7, 9]) top.add(key, () => `key ${key}`);
    expect(top.sorted()).toEqual([
      { key: 7, value: 'key 7', count: 3, error: 0 },
      { key: 9, value: 'key 9', count: 2, error: 0 },
      { key: 8, value: 'key 8', count: 1, error: 0 },
    ]);
  });

  it('keeps every key above total / capacity, with bounds that hold', () => {
    const keys = fc.array(fc.oneof(fc.nat(5), fc.nat(1000)), { maxLength: 500 });
    fc.assert(
      fc.property(keys, fc.integer({ min: 1, max: 20 }), (added, capacity) => {
        const top = new TopCounts<null>(capacity);
        const exact = new Map<number, number>();
        for (const key of added) {
          top.add(key, () => null);
          exact.set(key, (exact.get(key) ?? 0) + 1);
        }
        const counts = new Map(top.sorted().map((one) => [one.key, one]));
        expect(counts.size).toBeLessThanOrEqual(capacity);
        for (const { key, count, error } of counts.values()) {
          const truth = exact.get(key) ?? 0;
          expect(count).toBeGreaterThanOrEqual(truth);
          expect(count - error).toBeLessThanOrEqual(truth);
        }
        for (const [key, count] of exact) {
          if (count > added.length / capacity) expect(counts.has(key)).toBe(true);
        }
      }),
    );
  });
});
