import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Space } from '../memory/space.js';
import { NaptLookup, NaptRanges } from './napt-ranges.js';

const SHARED = 0xc000_0201; // 192.0.2.1

function napt() {
  const [directory, blocks] = [new Space(), new Space()];
  const ranges = new NaptRanges(directory, blocks);
  return { ranges, lookup: new NaptLookup(directory, blocks) };
}

interface Range {
  readonly lower: number;
  readonly upper: number;
}

/** All ports, or a part of them halved up to six times: any two nest or are apart. */
const nested: fc.Arbitrary<Range> = fc
  .tuple(fc.integer({ min: 0, max: 6 }), fc.nat())
  .map(([depth, seed]) => {
    const width = 65_536 >>> depth;
    const lower = (seed % (1 << depth)) * width;
    return { lower, upper: lower + width - 1 };
  });

describe('NaptRanges', () => {
  it('lets the narrowest range win, after any puts and deletes', () => {
    const step = fc.record({
      address: fc.constantFrom(SHARED, SHARED + 1, 0xffff_ffff, 0),
      range: nested,
      value: fc.nat({ max: 50 }),
      remove: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60 }),
        fc.array(fc.nat({ max: 65_535 })),
        (steps, ports) => {
          const { ranges, lookup } = napt();
          const oracle = new Map<string, (typeof steps)[number]>();
          for (const one of steps) {
            const { lower, upper } = one.range;
            const key = `${one.address} ${lower} ${upper}`;
            const previous = oracle.get(key)?.value ?? -1;
            if (one.remove) {
              expect(ranges.delete(one.address, lower, upper)).toBe(previous);
              oracle.delete(key);
            } else {
              expect(ranges.set(one.address, lower, upper, one.value)).toBe(previous);
              oracle.set(key, one);
            }
            expect(ranges.size).toBe(oracle.size);
          }
          const asked = [
            ...ports,
            0,
            65_535,
            ...steps.flatMap((one) => [one.range.lower, one.range.upper]),
          ];
          for (const { address } of steps) {
            for (const port of asked) {
              const [narrowest] = [...oracle.values()]
                .filter(
                  (one) =>
                    one.address === address && one.range.lower <= port && port <= one.range.upper,
                )
                .sort((a, b) => a.range.upper - a.range.lower - (b.range.upper - b.range.lower));
              expect(lookup.find(address, port)).toBe(narrowest?.value ?? -1);
            }
          }
        },
      ),
    );
  });

  it('tells whether an address has ranges other than one of all ports', () => {
    const { ranges, lookup } = napt();
    expect(lookup.needsPort(SHARED)).toBe(false);
    ranges.set(SHARED, 0, 65_535, 1);
    expect(lookup.needsPort(SHARED)).toBe(false);
    ranges.set(SHARED, 0, 32_767, 2);
    expect(lookup.needsPort(SHARED)).toBe(true);
    ranges.delete(SHARED, 0, 65_535);
    expect(lookup.needsPort(SHARED)).toBe(true);
    ranges.delete(SHARED, 0, 32_767);
    expect(lookup.needsPort(SHARED)).toBe(false);
  });

  it('includes both bounds', () => {
    const { ranges, lookup } = napt();
    ranges.set(SHARED, 1024, 2047, 5);
    expect([1023, 1024, 2047, 2048].map((port) => lookup.find(SHARED, port))).toEqual([
      -1, 5, 5, -1,
    ]);
  });

  it('finds one of the ranges that have the port when ranges overlap in part', () => {
    const { ranges, lookup } = napt();
    ranges.set(SHARED, 10, 20, 1);
    ranges.set(SHARED, 15, 30, 2);
    ranges.set(SHARED, 25, 26, 3);
    expect([12, 17, 25, 28, 31].map((port) => lookup.find(SHARED, port))).toEqual([1, 2, 3, 2, -1]);
  });

  it('can have a range for every single port of an address', () => {
    const { ranges, lookup } = napt();
    for (let port = 0; port < 4096; port++) ranges.set(SHARED, port, port, port);
    ranges.set(SHARED, 0, 65_535, 9999);
    for (let port = 0; port < 4096; port++) expect(lookup.find(SHARED, port)).toBe(port);
    expect(lookup.find(SHARED, 4096)).toBe(9999);
  });

  it.each([
    ['of one size', (i: number) => i * 1024, 1024],
    ['that begin at 1024', (i: number) => 1024 + i * 1000, 1000],
    ['that lie at the low end', (i: number) => i * 16, 16],
    ['that lie at the high end', (i: number) => 64_512 + i * 16, 16],
    ['with gaps', (i: number) => i * 1024 + 300, 100],
  ])('finds each of 64 ranges %s by its ports, and no other', (_, lowerOf, size) => {
    const { ranges, lookup } = napt();
    for (let i = 0; i < 64; i++) ranges.set(SHARED, lowerOf(i), lowerOf(i) + size - 1, i);
    const wanted = new Int32Array(65_536).fill(-1);
    for (let i = 0; i < 64; i++) wanted.fill(i, lowerOf(i), lowerOf(i) + size);
    const found = wanted.map((_value, port) => lookup.find(SHARED, port));
    expect(found).toEqual(wanted);
  });

  it('needs at most 24 bytes a range when addresses get their ranges in turns', () => {
    const { ranges } = napt();
    for (let i = 0; i < 64; i++) {
      for (let address = SHARED; address < SHARED + 2000; address++) {
        ranges.set(address, i * 1024, i * 1024 + 1023, i);
      }
    }
    expect(ranges.bytes / ranges.size).toBeLessThan(24);
  });
});
