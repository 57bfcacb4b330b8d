import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clashes, findClashes, type OrderedRange } from './port-ranges.js';

const range = (lowerPort: number, upperPort: number) => ({ lowerPort, upperPort });

describe('clashes', () => {
  it.each([
    ['equal ranges', range(1, 5), range(1, 5), true],
    ['a partial overlap', range(1, 5), range(5, 9), true],
    ['neighbours', range(1, 5), range(6, 9), false],
    ['one inside the other', range(1, 9), range(4, 5), false],
    ['one inside the other at its lower end', range(1, 9), range(1, 5), false],
    ['one inside the other at its upper end', range(1, 9), range(9, 9), false],
  ])('returns for %s', (_what, a, b, expected) => {
    expect([clashes(a, b), clashes(b, a)]).toEqual([expected, expected]);
  });

  it('agrees with a comparison of all ports', () => {
    const port = fc.integer({ min: 0, max: 8 });
    const anyRange = fc.tuple(port, port).map(([a, b]) => range(Math.min(a, b), Math.max(a, b)));
    fc.assert(
      fc.property(anyRange, anyRange, (a, b) => {
        const ports = ({ lowerPort, upperPort }: typeof a) =>
          new Set(Array.from({ length: upperPort - lowerPort + 1 }, (_, i) => lowerPort + i));
        const [of, other] = [ports(a), ports(b)];
        const apart = of.isDisjointFrom(other);
        const nested = of.isSubsetOf(other) !== other.isSubsetOf(of);
        expect(clashes(a, b)).toBe(!apart && !nested);
      }),
    );
  });
});

describe('findClashes', () => {
  const port = fc.integer({ min: 0, max: 20 });
  const anyRanges = fc
    .array(fc.tuple(port, port), { maxLength: 12 })
    .map((pairs) =>
      pairs.map(([a, b], order) => ({ ...range(Math.min(a, b), Math.max(a, b)), order })),
    );
  const free = (ranges: readonly OrderedRange[]) =>
    ranges.every((a) => ranges.every((b) => a === b || !clashes(a, b)));

  it('reports the later range of each clashing pair', () => {
    const [a, b, c] = [
      { ...range(0, 10), order: 0 },
      { ...range(5, 15), order: 2 },
      { ...range(12, 20), order: 1 },
    ];
    expect(findClashes([a, b, c])).toEqual([{ earlier: a, later: b }]);
  });

  it('finds clashes exactly when there are some, and the rest is allowed', () => {
    fc.assert(
      fc.property(anyRanges, (ranges) => {
        const found = findClashes(ranges);
        expect(found.length === 0).toBe(free(ranges));
        for (const { earlier, later } of found) {
          expect(clashes(earlier, later)).toBe(true);
          expect(earlier.order).toBeLessThan(later.order);
        }
        const blamed = new Set(found.map(({ later }) => later));
        expect(free(ranges.filter((one) => !blamed.has(one)))).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
