import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HeavyHitters, totalOf } from './heavy-hitters.js';

const CAPACITY = 8;

function counted(keys: readonly number[]) {
  const subject = new HeavyHitters<string>(CAPACITY, 2);
  for (const key of keys) subject.record(key, key % 2, () => `key ${key}`);
  return subject;
}

describe('HeavyHitters', () => {
  it('counts few keys exactly, by kind', () => {
    expect(counted([1, 2, 1, 1, 3]).hits).toEqual([
      { key: 1, label: 'key 1', counts: [0, 3], missed: 0 },
      { key: 2, label: 'key 2', counts: [1, 0], missed: 0 },
      { key: 3, label: 'key 3', counts: [0, 1], missed: 0 },
    ]);
  });

  it('knows every key that comes often, and never counts too much', () => {
    // Some keys among many that come once.
    const key = fc.oneof(fc.nat(5), fc.nat(10_000));
    fc.assert(
      fc.property(fc.array(key, { maxLength: 500 }), (keys) => {
        const { hits } = counted(keys);
        expect(hits.length).toBeLessThanOrEqual(CAPACITY);
        const exact = Map.groupBy(keys, (one) => one);
        for (const hit of hits) {
          expect(totalOf(hit)).toBeLessThanOrEqual(exact.get(hit.key)!.length);
        }
        const often = [...exact].filter(([, all]) => all.length > keys.length / CAPACITY);
        const known = hits.map((hit) => hit.key);
        for (const [one] of often) expect(known).toContain(one);
      }),
    );
  });

  it('forgets keys that do not come any more', () => {
    const subject = counted([1, 1, 1, 1, 2, 2]);
    subject.halve();
    expect(subject.hits.map(totalOf)).toEqual([2, 1]);
    subject.halve();
    subject.halve();
    expect(subject.hits).toEqual([]);
  });
});
