import { parseHashKey } from '@weir/dns-name';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CatalogueError } from '../catalogue-error.js';
import { type CompiledCatalogue, compileCatalogue, type ListedGroup } from '../image/compile.js';
import { NameList } from '../names/name-list.js';
import { buildImage } from './build-image.js';
import { DeltaReader, writeDelta } from './delta.js';
import { BLOCK_SLOTS } from './stored-image.js';

const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');

/** Names by category. */
type Listed = ReadonlyMap<number, Iterable<string>>;

function compiled(listed: Listed): CompiledCatalogue {
  const categories = Array.from(listed, ([id, names]): ListedGroup => {
    return { id, name: `category ${id}`, lists: [NameList.of(names, KEY)] };
  });
  return compileCatalogue({ categories, applications: [] }, KEY);
}

const stored = (image: Uint8Array, pieceBytes = 1000) => ({
  sizeBytes: image.length,
  async *read(start: number, end: number) {
    for (let at = start; at < end; at += pieceBytes) {
      yield await Promise.resolve(image.subarray(at, Math.min(at + pieceBytes, end)));
    }
  },
});

async function deltaOf(base: Uint8Array, image: Uint8Array): Promise<Uint8Array> {
  return Buffer.concat(await Array.fromAsync(writeDelta(stored(base), stored(image))));
}

/** The image that the delta makes of the base, when it comes in pieces of this size. */
function built(base: Uint8Array, delta: Uint8Array, sizeBytes: number, pieceBytes = 777) {
  const image = new Uint8Array(sizeBytes);
  const reader = new DeltaReader(base, image);
  for (let at = 0; at < delta.length; at += pieceBytes) {
    reader.push(delta.subarray(at, at + pieceBytes));
  }
  reader.finish();
  return image;
}

async function expectSame(before: Listed, after: Listed, pieceBytes?: number): Promise<number> {
  const [{ image: base }, { image }] = [compiled(before), compiled(after)];
  const delta = await deltaOf(base, image);
  expect(Buffer.compare(built(base, delta, image.length, pieceBytes), image)).toBe(0);
  return delta.length;
}

const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => `n${from + i}.example`);

describe('a delta of two images', () => {
  it('makes the second image from the first, byte by byte, for any lists', async () => {
    const names = fc.array(
      fc.nat({ max: 300 }).map((n) => `n${n}.example`),
      { maxLength: 200 },
    );
    const listed = fc.uniqueArray(fc.tuple(fc.nat({ max: 5 }), names), { selector: ([id]) => id });
    await fc.assert(
      fc.asyncProperty(listed, listed, fc.integer({ min: 1, max: 500 }), async (one, two, size) => {
        await expectSame(new Map(one), new Map(two), size);
      }),
      { numRuns: 200 },
    );
  });

  it('makes the second image after a few changes of long lists', async () => {
    const base = { one: numbered(500), two: numbered(500, 250) };
    const changes = fc.array(fc.tuple(fc.constantFrom('one', 'two'), fc.nat({ max: 1_000 })));
    await fc.assert(
      fc.asyncProperty(changes, async (toggled) => {
        const lists = { one: new Set(base.one), two: new Set(base.two) };
        for (const [list, number] of toggled) {
          const name = `n${number}.example`;
          const names = lists[list];
          if (!names.delete(name)) names.add(name);
        }
        await expectSame(
          new Map([
            [1, base.one],
            [2, base.two],
          ]),
          new Map([
            [1, lists.one],
            [2, lists.two],
          ]),
        );
      }),
      { numRuns: 60 },
    );
  });

  it('is small when one name of many is added, and spans blocks of slots', async () => {
    const many = numbered(BLOCK_SLOTS * 2 + 10);
    const size = await expectSame(new Map([[1, many]]), new Map([[1, [...many, 'a.example']]]));
    expect(size).toBeLessThan(500);
  });

  it('does not list the names of a membership set again whose number has changed', async () => {
    const size = await expectSame(
      new Map([
        [1, numbered(10)],
        [2, numbered(5_000)],
      ]),
      new Map([
        [1, numbered(10)],
        [2, numbered(5_000)],
        [3, ['a.example']],
        [4, numbered(1)],
      ]),
    );
    expect(size).toBeLessThan(1_000);
  });

  it('can be of images with set numbers of two and of four bytes', async () => {
    const combined = (count: number): Listed =>
      new Map(
        Array.from({ length: 17 }, (_, bit) => {
          const ofBit = (_: string, n: number) => ((n + 1) >> bit) & 1;
          return [bit, numbered(count).filter(ofBit)] as const;
        }),
      );
    const [{ image: short }, { image: long }] = [
      compiled(combined(65_500)),
      compiled(combined(65_600)),
    ];
    for (const [base, image] of [
      [short, long],
      [long, short],
    ]) {
      const same = built(base, await deltaOf(base, image), image.length);
      expect(Buffer.compare(same, image)).toBe(0);
    }
  });

  it('can begin and end with no name', async () => {
    const [none, some]: Listed[] = [new Map(), new Map([[1, numbered(3)]])];
    await expectSame(none, some);
    await expectSame(some, none);
    await expectSame(none, none);
  });

  it('is refused when it is cut off, unless a change of a name is missing', async () => {
    const { image: base } = compiled(new Map([[1, numbered(100)]]));
    const { image } = compiled(new Map([[1, numbered(101)]]));
    const delta = await deltaOf(base, image);
    for (let end = 0; end < delta.length - 12; end++) {
      const cut = delta.subarray(0, end);
      expect(() => built(base, cut, image.length), `${end} bytes`).toThrow(CatalogueError);
    }
    const without = built(base, delta.subarray(0, delta.length - 12), image.length);
    expect(Buffer.compare(without, image)).not.toBe(0);
  });

  it('ends with an image of the given size, whatever it says', async () => {
    const { image: base } = compiled(new Map([[1, numbered(200)]]));
    const { image } = compiled(new Map([[1, numbered(210, 20)]]));
    const delta = await deltaOf(base, image);
    const damage = fc.array(
      fc.tuple(fc.nat({ max: delta.length - 1 }), fc.integer({ min: 1, max: 255 })),
      {
        minLength: 1,
        maxLength: 8,
      },
    );
    fc.assert(
      fc.property(damage, (changes) => {
        const damaged = Uint8Array.from(delta);
        for (const [at, bits] of changes) damaged[at] ^= bits;
        const before = Buffer.from(base);
        try {
          expect(built(base, damaged, image.length)).toHaveLength(image.length);
        } catch (error) {
          expect(error).toBeInstanceOf(CatalogueError);
        }
        expect(before.equals(base)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('is refused for a base or a room that it was not made for', async () => {
    const { image: base } = compiled(new Map([[1, numbered(200)]]));
    const { image } = compiled(new Map([[1, numbered(201)]]));
    const delta = await deltaOf(base, image);
    expect(() => built(base, delta, image.length + 4)).toThrow('not as long as it says');
    expect(() => built(Buffer.from('no image'), delta, image.length)).toThrow(CatalogueError);
    const { image: other } = compiled(new Map([[1, numbered(200, 7)]]));
    expect(Buffer.compare(built(other, delta, image.length), image)).not.toBe(0);
  });

  it('cannot be made of an image whose end is missing', async () => {
    const { image } = compiled(new Map([[1, numbered(200)]]));
    const short = {
      ...stored(image),
      read: (start: number, end: number) => stored(image).read(start, Math.min(end, 100)),
    };
    await expect(Array.fromAsync(writeDelta(stored(image), short))).rejects.toThrow(CatalogueError);
    const none = Array.fromAsync(writeDelta(stored(image), stored(new Uint8Array(10))));
    await expect(none).rejects.toThrow(CatalogueError);
  });
});

describe('buildImage', () => {
  const before = compiled(new Map([[1, numbered(2_000)]]));
  const after = compiled(new Map([[1, numbered(2_010)]]));
  const delta = () => writeDelta(stored(before.image), stored(after.image));

  it('builds an image in another thread, in ordinary and in shared memory', async () => {
    const shared = (bytes: number) => new Uint8Array(new SharedArrayBuffer(bytes));
    for (const allocate of [(bytes: number) => new Uint8Array(bytes), shared]) {
      const base = allocate(before.image.length);
      base.set(before.image);
      const room = allocate(after.image.length);
      const { image, sha256 } = await buildImage(base, delta(), room);
      expect(sha256).toBe(after.sha256);
      expect(Buffer.compare(image, after.image)).toBe(0);
      if (room.buffer instanceof SharedArrayBuffer) expect(Buffer.compare(room, image)).toBe(0);
    }
  });

  it('fails when the delta is none, and when reading it fails', async () => {
    const room = () => new Uint8Array(after.image.length);
    async function* wrong() {
      for (;;) yield await new Promise<Uint8Array>((go) => setImmediate(go, new Uint8Array(1_000)));
    }
    await expect(buildImage(before.image, wrong(), room())).rejects.toThrow('not a usable delta');
    async function* broken() {
      yield await Promise.resolve(new Uint8Array(1));
      throw new Error('broken off by this test');
    }
    await expect(buildImage(before.image, broken(), room())).rejects.toThrow('by this test');
  });

  it('is given up at a signal', async () => {
    const giveUp = new AbortController();
    async function* endless() {
      yield await new Promise<Uint8Array>(() => giveUp.abort(new Error('given up by this test')));
    }
    const building = buildImage(
      before.image,
      endless(),
      new Uint8Array(after.image.length),
      giveUp.signal,
    );
    await expect(building).rejects.toThrow('given up by this test');
  });
});
