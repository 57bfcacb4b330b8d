import { describe, expect, it } from 'vitest';
import { ChunkMemory, SLAB_BYTES } from './chunk-memory.js';

const MIB = 2 ** 20;

describe('ChunkMemory', () => {
  it('cuts large chunks from slabs, which are prepared before they are written', () => {
    const slabs: Uint8Array[] = [];
    const memory = new ChunkMemory((slab) => void slabs.push(slab));
    const chunks = Array.from({ length: 16 }, () => memory.take(MIB).chunk);
    expect(slabs.map(({ length }) => length)).toEqual([SLAB_BYTES, SLAB_BYTES]);
    expect(new Set(chunks.map(({ buffer }) => buffer))).toEqual(
      new Set(slabs.map(({ buffer }) => buffer)),
    );
    // They do not overlap.
    for (const [i, chunk] of chunks.entries()) chunk.fill(i);
    expect(chunks.every((chunk, i) => chunk.every((word) => word === i))).toBe(true);
  });

  it('gives small chunks, and those larger than a slab, a buffer of their own', () => {
    const slabs: Uint8Array[] = [];
    const memory = new ChunkMemory((slab) => void slabs.push(slab));
    const small = memory.take(MIB / 4).chunk;
    expect(small.buffer.byteLength).toBe(MIB / 4);
    expect(slabs).toHaveLength(0);
    const large = memory.take(9 * MIB).chunk;
    expect(large.buffer.byteLength).toBe(9 * MIB);
    expect(slabs).toHaveLength(1);
  });

  it('gives a part that is no longer used again, and nothing else of its slab', () => {
    const memory = new ChunkMemory();
    const [first, second] = [memory.take(MIB).chunk, memory.take(MIB).chunk.fill(7)];
    memory.give(first.fill(1));
    const again = memory.take(MIB);
    expect(again.isNew).toBe(false);
    expect(again.chunk.byteOffset).toBe(first.byteOffset);
    expect(again.chunk.fill(2).length).toBe(MIB / 4);
    expect(second.every((word) => word === 7)).toBe(true);
    expect(memory.take(MIB)).toMatchObject({ isNew: true });
  });
});
