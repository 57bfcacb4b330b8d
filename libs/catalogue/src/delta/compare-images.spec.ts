import { parseHashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileCatalogue, type ListedGroup } from '../image/compile.js';
import { NameList } from '../names/name-list.js';
import { compareImages } from './compare-images.js';

const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');

type Listed = Readonly<Record<number, Iterable<string>>>;

function imageOf(categories: Listed, applications: Listed, key = KEY) {
  const groups = (listed: Listed, kind: string) =>
    Object.entries(listed).map(([id, names]): ListedGroup => {
      return { id: Number(id), name: `${kind} ${id}`, lists: [NameList.of(names, key)] };
    });
  const { image } = compileCatalogue(
    { categories: groups(categories, 'category'), applications: groups(applications, 'app') },
    key,
  );
  return {
    sizeBytes: image.length,
    async *read(start: number, end: number) {
      yield await Promise.resolve(image.subarray(start, end));
    },
  };
}

function hashOf(name: string): readonly [number, number] {
  const hashes = new SuffixHashes(KEY);
  const last = hashes.compute(toWireName(name), 0) - 1;
  return [hashes.low[last], hashes.high[last]];
}

describe('compareImages', () => {
  it('tells by group which names came and went, and which groups are new or gone', async () => {
    const before = imageOf(
      { 1: ['a.example', 'b.example'], 2: ['b.example'], 3: [] },
      { 1: ['b.example'] },
    );
    const after = imageOf(
      { 1: ['a.example', 'c.example'], 2: ['b.example'] },
      { 1: ['b.example'], 7: [] },
    );
    const none = { count: 0, names: [] };
    expect(await compareImages(before, after, 10)).toEqual([
      {
        ...{ kind: 'categories', id: 1 },
        before: { id: 1, name: 'category 1', domains: 2 },
        after: { id: 1, name: 'category 1', domains: 2 },
        added: { count: 1, names: [hashOf('c.example')] },
        removed: { count: 1, names: [hashOf('b.example')] },
      },
      {
        ...{ kind: 'categories', id: 3, after: null, added: none, removed: none },
        before: { id: 3, name: 'category 3', domains: 0 },
      },
      {
        ...{ kind: 'applications', id: 7, before: null, added: none, removed: none },
        after: { id: 7, name: 'app 7', domains: 0 },
      },
    ]);
    expect(await compareImages(after, after, 10)).toEqual([]);
  });

  it('counts all names of any lists, and has no more of them than was asked for', async () => {
    const names = fc.uniqueArray(fc.nat({ max: 30 }).map((n) => `n${n}.example`));
    const worlds = fc.record({ 1: names, 2: names, 5: names });
    await fc.assert(
      fc.asyncProperty(worlds, worlds, fc.nat({ max: 5 }), async (old, now, max) => {
        const differences = await compareImages(imageOf(old, old), imageOf(now, now), max);
        for (const kind of ['categories', 'applications'] as const) {
          for (const id of [1, 2, 5] as const) {
            const one = differences.find((it) => it.kind === kind && it.id === id);
            const added = now[id].filter((name) => !old[id].includes(name));
            const removed = old[id].filter((name) => !now[id].includes(name));
            expect([one?.added.count ?? 0, one?.removed.count ?? 0]).toEqual([
              added.length,
              removed.length,
            ]);
            expect(added.map(hashOf)).toEqual(
              expect.arrayContaining([...(one?.added.names ?? [])]),
            );
            expect(one?.added.names.length ?? 0).toBe(Math.min(max, added.length));
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it('refuses images of different keys, whose hashes say nothing about each other', async () => {
    const other = parseHashKey('ff'.repeat(16));
    await expect(compareImages(imageOf({}, {}), imageOf({}, {}, other), 1)).rejects.toThrow(
      'the two images were compiled under different DOMAIN_HASH_KEYs',
    );
  });
});
