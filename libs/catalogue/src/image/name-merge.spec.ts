import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NameList } from '../names/name-list.js';
import { NameMerge } from './name-merge.js';

/** Hashes as pairs of few different halves, so that many are equal in one of them. */
const half = fc.constantFrom(0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff);
const hash = fc.tuple(half, half);
const owned = fc.record({ owner: fc.nat({ max: 3 }), hashes: fc.array(hash, { maxLength: 12 }) });

function asText([high, low]: readonly [number, number]): string {
  return [high, low].map((word) => word.toString(16).padStart(8, '0')).join('');
}

/** Each hash with its owners, by way of a map. */
function expected(lists: readonly { owner: number; hashes: [number, number][] }[]) {
  const owners = new Map<string, Set<number>>();
  for (const { owner, hashes } of lists) {
    for (const text of hashes.map(asText))
      owners.set(text, (owners.get(text) ?? new Set()).add(owner));
  }
  return [...owners]
    .map(([text, all]) => [text, [...all].sort((a, b) => a - b)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function walk(merge: NameMerge) {
  const names: (readonly [string, number[]])[] = [];
  for (merge.restart(); merge.next();) {
    const owners = [...merge.owners.subarray(0, merge.ownerCount)];
    names.push([asText([merge.high, merge.low]), owners]);
  }
  return names;
}

describe('NameMerge', () => {
  it('returns each name once, ascending, with all its owners, and again after a restart', () => {
    fc.assert(
      fc.property(fc.array(owned, { maxLength: 8 }), (unsorted) => {
        const lists = unsorted.toSorted((a, b) => a.owner - b.owner);
        const merge = new NameMerge(
          lists.map(({ hashes }) =>
            NameList.ofUnsorted(Uint32Array.from(hashes.flatMap(([high, low]) => [low, high]))),
          ),
          lists.map(({ owner }) => owner),
        );
        expect(walk(merge)).toEqual(expected(lists));
        expect(walk(merge)).toEqual(expected(lists));
      }),
      { numRuns: 300 },
    );
  });
});
