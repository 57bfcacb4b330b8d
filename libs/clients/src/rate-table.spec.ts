import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateTable } from './rate-table.js';

/** Distributed over the table like real keys. */
const keyOf = (n: number): [number, number] => [Math.imul(n + 1, 0x9e37_79b1), n];

describe('RateTable', () => {
  it('allows actions up to the limit in a second, and again in the next second', () => {
    const table = new RateTable(64);
    const admitted = (second: number) =>
      Array.from({ length: 5 }, () => table.allows(1, 2, second, 3));
    expect(admitted(7)).toEqual([true, true, true, false, false]);
    expect(admitted(8)).toEqual([true, true, true, false, false]);
    expect(table.allows(2, 2, 8, 3)).toBe(true);
    expect(table.allows(1, 3, 8, 3)).toBe(true);
  });

  it('never rejects a subscriber below the limit, however many subscribers there are', () => {
    const step = fc.record({ key: fc.nat(200), pause: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1) });
    const steps = fc.array(step, { minLength: 200, maxLength: 1000 });
    let refused = 0;
    fc.assert(
      fc.property(steps, (list) => {
        const table = new RateTable(32);
        const counts = new Map<string, number>();
        let second = 1;
        for (const { key, pause } of list) {
          second += pause;
          const name = `${second} ${key}`;
          const admitted = table.allows(...keyOf(key), second, 2);
          counts.set(name, (counts.get(name) ?? 0) + 1);
          if (admitted) continue;
          refused++;
          expect(counts.get(name)).toBeGreaterThan(2);
        }
      }),
    );
    expect(refused).toBeGreaterThan(0);
  });
});
