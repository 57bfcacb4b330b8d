import { parseHashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NameList, NameListBuilder } from './name-list.js';
import { placeNames, searchNames } from './name-places.js';

const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');
const numbers = fc.array(fc.nat({ max: 300 }), { maxLength: 400 });

function hashOf(n: number): [number, number] {
  const hashes = new SuffixHashes(KEY);
  const last = hashes.compute(toWireName(`d${n}.example`), 0) - 1;
  return [hashes.low[last], hashes.high[last]];
}

/** The names of these numbers, each in the line of its position. */
function listed(of: readonly number[]) {
  const hashes = new SuffixHashes(KEY);
  const builder = new NameListBuilder();
  for (const [i, n] of of.entries()) {
    builder.add(hashes, hashes.compute(toWireName(`d${n}.example`), 0) - 1, i + 1);
  }
  return builder.finishWithLines();
}

/** The position of a number in a list, which is read in pieces. */
function find({ words, count }: NameList, n: number): Promise<number> {
  return searchNames(count, ...hashOf(n), (from, names) =>
    Promise.resolve(words.slice(from * 2, (from + names) * 2)),
  );
}

describe('the places of names', () => {
  it('are the first line of each, and the time at which the list first had it', async () => {
    await fc.assert(
      fc.asyncProperty(numbers, numbers, async (before, after) => {
        const old = listed(before);
        const { places } = placeNames(old.names, old.lines, 100, null);
        const { names, lines } = listed(after);
        const known = { names: old.names, places };
        const { places: now, commonCount } = placeNames(names, lines, 200, known);
        expect(commonCount).toBe(new Set(before).intersection(new Set(after)).size);
        for (const n of new Set(after)) {
          const at = await find(names, n);
          expect(now[at * 2]).toBe(after.indexOf(n) + 1);
          expect(now[at * 2 + 1]).toBe(before.includes(n) ? 100 : 200);
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('searchNames', () => {
  it('finds every name of a list, and no other', async () => {
    const { names } = listed(Array.from({ length: 20_000 }, (_, n) => n));
    for (let n = 0; n < 20_000; n += 97) expect(await find(names, n)).toBeGreaterThanOrEqual(0);
    for (let n = 20_000; n < 40_000; n += 97) expect(await find(names, n)).toBe(-1);
    expect(await find(NameList.of([], KEY), 1)).toBe(-1);
  });

  it('finds names of a list whose hashes are not spread evenly', async () => {
    const count = 30_000;
    const words = Uint32Array.from({ length: 2 * count }, (_, i) =>
      i % 2 === 0 ? i * 3 : 0xffff_fff0,
    );
    const list = NameList.ofUnsorted(words);
    const search = (low: number, high: number) =>
      searchNames(list.count, low, high, (from, names) =>
        Promise.resolve(list.words.slice(from * 2, (from + names) * 2)),
      );
    expect(await search(0, 0xffff_fff0)).toBe(0);
    expect(await search(6 * (count - 1), 0xffff_fff0)).toBe(count - 1);
    expect(await search(6 * 12_345, 0xffff_fff0)).toBe(12_345);
    expect(await search(6 * 12_345, 0x7fff_fff0)).toBe(-1);
    expect(await search(7, 0xffff_fff0)).toBe(-1);
  });
});
