import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Arena, chunkOf, wordOf } from './arena.js';

describe('Arena', () => {
  it('keeps blocks apart, whatever is allocated and released', () => {
    const size = fc.oneof(fc.integer({ min: 1, max: 50 }), fc.constantFrom(51, 1000, 70_000));
    const step = fc.record({ words: size, release: fc.option(fc.nat()) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const arena = new Arena(50);
        const blocks: { address: number; words: number; mark: number }[] = [];
        steps.forEach(({ words, release }, mark) => {
          if (release !== null && blocks.length > 0) {
            const [gone] = blocks.splice(release % blocks.length, 1);
            arena.release(gone.address, gone.words);
          }
          const address = arena.allocate(words);
          expect(address).toBeGreaterThan(0);
          arena.chunks[chunkOf(address)].fill(mark, wordOf(address), wordOf(address) + words);
          blocks.push({ address, words, mark });
        });
        for (const { address, words, mark } of blocks) {
          const at = wordOf(address);
          const content = arena.chunks[chunkOf(address)].subarray(at, at + words);
          expect(content).toHaveLength(words);
          expect(content.every((word) => word === mark)).toBe(true);
        }
      }),
    );
  });

  it('reuses released blocks of the same size', () => {
    const arena = new Arena(10);
    const addresses = Array.from({ length: 50_000 }, () => arena.allocate(10));
    const { bytes } = arena;
    for (let round = 0; round < 3; round++) {
      for (const address of addresses) arena.release(address, 10);
      for (let i = 0; i < addresses.length; i++) addresses[i] = arena.allocate(10);
    }
    expect(arena.bytes).toBe(bytes);
    expect(new Set(addresses).size).toBe(addresses.length);
  });

  it('fills a chunk to its last word', () => {
    const arena = new Arena(8);
    for (let i = 0; i < 40_000; i++) {
      const address = arena.allocate(i === 0 ? 7 : 8);
      arena.chunks[chunkOf(address)][wordOf(address) + 6] = i;
    }
    expect(arena.chunks).toHaveLength(5);
  });

  it('gives back the memory of a block larger than its limit', () => {
    const arena = new Arena(10);
    const { bytes } = arena;
    for (let round = 0; round < 3; round++) {
      const address = arena.allocate(1_000_000);
      expect(arena.bytes).toBeGreaterThan(bytes + 4_000_000);
      arena.release(address, 1_000_000);
      expect(arena.bytes).toBe(bytes);
    }
    expect(arena.chunks).toHaveLength(2);
  });
});
