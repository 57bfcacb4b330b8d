import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHUNK_WORDS, chunkOf, Fork, Space, startOf, wordOf } from './space.js';
import { Arena, FIRST_WORDS, LOOK_AHEAD_WORDS } from './arena.js';

const MOST = FIRST_WORDS / 8;
const NOTHING = new Int32Array(0);

/** Words of a chunk. */
interface Part {
  readonly chunk: number;
  readonly at: number;
  readonly words: number;
}

interface Block extends Part {
  readonly content: Int32Array;
}

/**
 * An arena as the list of its blocks. Room is what is left between them; all that has room for the largest block
 * counts as the same size.
 */
class BlockList {
  readonly blocks: Block[] = [];
  /** Words of each chunk that there is. */
  readonly chunks = new Map<number, number>();

  /** @param first the number of the first chunk. */
  constructor(first: number) {
    this.chunks.set(first, FIRST_WORDS);
  }

  gaps(): Part[] {
    return [...this.chunks].flatMap(([chunk, end]) => {
      const blocks = this.blocks.filter((one) => one.chunk === chunk);
      const starts = [...blocks.map(({ at }) => at).sort((a, b) => a - b), end];
      const ends = [
        chunk === 0 ? 1 : 0,
        ...blocks.map(({ at, words }) => at + words).sort((a, b) => a - b),
      ];
      return ends
        .map((at, i) => ({ chunk, at, words: starts[i] - at }))
        .filter(({ words }) => words !== 0);
    });
  }

  /** Whether a block of that size may be given that place. */
  takes(block: Block): boolean {
    const { chunk, at, words } = block;
    const wide = words > MOST ? [] : this.gaps().filter((gap) => gap.words >= words);
    this.blocks.push(block);
    if (wide.length === 0) {
      const isNew = !this.chunks.has(chunk);
      this.chunks.set(chunk, words > MOST ? words : this.nextWords());
      return isNew && at === 0;
    }
    const least = Math.min(...wide.map(sizeOf));
    return wide.some((gap) => gap.chunk === chunk && gap.at === at && sizeOf(gap) === least);
  }

  /** As many as there are in chunks of several blocks, up to the most. */
  private nextWords(): number {
    const own = new Set(this.blocks.filter(({ words }) => words > MOST).map(({ chunk }) => chunk));
    const sum = [...this.chunks].reduce(
      (all, [chunk, words]) => all + (own.has(chunk) ? 0 : words),
      0,
    );
    return Math.min(Math.max(sum, FIRST_WORDS), CHUNK_WORDS);
  }

  remove(index: number): Block {
    const [block] = this.blocks.splice(index, 1);
    if (this.blocks.every(({ chunk }) => chunk !== block.chunk) && block.chunk !== 0) {
      const isRoomElsewhere = this.gaps().some(
        ({ chunk, words }) => chunk !== block.chunk && words > MOST,
      );
      if (block.words > MOST || isRoomElsewhere) this.chunks.delete(block.chunk);
    }
    return block;
  }
}

function sizeOf({ words }: Part): number {
  return Math.min(words, MOST + 1);
}

function contentOf(arena: Arena, { chunk, at, words }: Part): Int32Array {
  return arena.chunks[chunk].subarray(at, at + words);
}

function isEqual(one: Int32Array, other: Int32Array): boolean {
  const bytesOf = (words: Int32Array): Buffer =>
    Buffer.from(words.buffer, words.byteOffset, words.byteLength);
  return bytesOf(one).equals(bytesOf(other));
}

/** Few sizes, so that blocks meet; and such that chunks are often filled to their last word. */
const sizes = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(1, 2, 3, 7) },
  { weight: 9, arbitrary: fc.constantFrom(MOST / 4, MOST / 2, MOST) },
  { weight: 1, arbitrary: fc.constantFrom(MOST - 1, MOST + 1, 70_000) },
);
const step = fc.oneof(
  fc.record({
    words: sizes,
    // As small as the numbers of free blocks, for which no content may be taken. null: whatever was there.
    mark: fc.option(fc.integer({ min: 0, max: 12 })),
  }),
  fc.record({ release: fc.nat() }),
);

describe.each([
  { where: 'from the first chunk on', chunksBefore: 0 },
  { where: 'where addresses become negative words', chunksBefore: 2 ** 13 - 1 },
])('Arena, $where', ({ chunksBefore }) => {
  it('allocates by best fit without overlaps, and drops empty chunks', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 100, maxLength: 200 }), (steps) => {
        const space = new Space();
        while (space.chunks.length < chunksBefore) space.chunks.push(NOTHING);
        const arena = new Arena(MOST, space);
        const list = new BlockList(chunksBefore);
        const seen = new Set<number>();
        for (const one of steps) {
          if ('words' in one) {
            const address = arena.allocate(one.words);
            const block = { chunk: chunkOf(address), at: wordOf(address), words: one.words };
            if (one.mark !== null) contentOf(arena, block).fill(one.mark);
            expect(address).toBe(address | 0);
            expect(list.takes({ ...block, content: contentOf(arena, block).slice() })).toBe(true);
            seen.add(block.chunk);
          } else if (list.blocks.length > 0) {
            const block = list.remove(one.release % list.blocks.length);
            expect(isEqual(contentOf(arena, block), block.content)).toBe(true);
            arena.release(startOf(block.chunk) | block.at, block.words);
          }
        }
        for (const block of list.blocks) {
          expect(isEqual(contentOf(arena, block), block.content)).toBe(true);
        }
        for (const chunk of seen) {
          const words = list.chunks.get(chunk);
          const length = words === undefined ? 0 : words + LOOK_AHEAD_WORDS;
          expect(arena.chunks[chunk]).toHaveLength(length);
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('Arena', () => {
  const allocateAll = (arena: Arena, count: number, words: number): number[] =>
    Array.from({ length: count }, () => arena.allocate(words));

  it('fills a chunk to its last word', () => {
    const arena = new Arena(8);
    for (let i = 0; i < 40_000; i++) {
      const address = arena.allocate(i === 0 ? 7 : 8);
      arena.chunks[chunkOf(address)][wordOf(address) + 6] = i;
    }
    // 64 Ki words twice, then 128 and 256.
    expect(arena.chunks).toHaveLength(4);
  });

  it('joins released small blocks to large ones, in any order of release', () => {
    const arena = new Arena(1000);
    const small = allocateAll(arena, 100_000, 7);
    const { bytes } = arena;
    for (let stride = 0; stride < 7; stride++) {
      for (let i = stride; i < small.length; i += 7) arena.release(small[i], 7);
    }
    allocateAll(arena, 650, 1000);
    expect(arena.bytes).toBeLessThan(bytes * 1.1);
  });

  it('keeps only one chunk and the records of free blocks when all blocks are released', () => {
    const arena = new Arena(10);
    const addresses = allocateAll(arena, 200_000, 10);
    expect(arena.bytes).toBeGreaterThan(7_000_000);
    for (const address of addresses) arena.release(address, 10);
    expect(arena.chunks.filter(({ length }) => length > 0)).toHaveLength(1);
    expect(arena.bytes).toBeLessThan(600_000);
  });

  it('drops the chunk of a released block larger than its limit', () => {
    const arena = new Arena(10);
    const { bytes } = arena;
    for (let round = 0; round < 3; round++) {
      const address = arena.allocate(1_000_000);
      expect(arena.bytes).toBeGreaterThanOrEqual(bytes + 4_000_000);
      arena.release(address, 1_000_000);
      expect(arena.bytes).toBe(bytes);
    }
    expect(arena.chunks).toHaveLength(2);
  });

  it('leaves a large block to its origin when a fork releases it', () => {
    const space = new Space();
    const origin = new Arena(10, space);
    const block = origin.allocate(5_000);
    origin.own(block).fill(7);
    const fork = new Arena(10, space.forkFor(new Fork()), origin);
    fork.release(block, 5_000);
    new Arena(10).allocate(5_000);
    expect(new Set(origin.chunks[chunkOf(block)])).toEqual(new Set([7]));
  });
});
