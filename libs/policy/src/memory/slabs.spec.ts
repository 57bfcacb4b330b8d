import fc from 'fast-check';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { PagesOfNoKernel } from '../testing/memories.js';
import { HUGE_PAGE_BYTES } from './huge-pages.js';
import { Slabs } from './slabs.js';

const MEBIBYTE = 2 ** 20;
/** Of a chunk with the words that a reader may prefetch. */
const CHUNK_BYTES = MEBIBYTE + 256;

function take(slabs: Slabs, bytes = CHUNK_BYTES): Int32Array {
  const taken = slabs.take(bytes);
  if (taken === null) throw new Error('no chunk');
  return taken.chunk;
}

function bytesOf({ buffer, byteOffset, byteLength }: Int32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function isFilled(chunk: Int32Array, byte: number): boolean {
  return bytesOf(chunk).equals(Buffer.alloc(chunk.byteLength, byte));
}

describe('Slabs', () => {
  const action = fc.oneof(
    { weight: 3, arbitrary: fc.record({ takeWords: fc.integer({ min: 1, max: MEBIBYTE / 2 }) }) },
    { weight: 2, arbitrary: fc.record({ give: fc.nat(), keeps: fc.nat(8 * MEBIBYTE) }) },
    fc.record({ trim: fc.nat(8 * MEBIBYTE) }),
    fc.constant({ prepare: true }),
  );

  it('have chunks that are apart, and keep what was written; a new one is 0', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const slabs = new Slabs(new PagesOfNoKernel());
        const chunks: { chunk: Int32Array; mark: number }[] = [];
        for (const [mark, one] of actions.entries()) {
          if ('takeWords' in one) {
            const taken = slabs.take(one.takeWords * 4)!;
            if (taken.isNew) expect(isFilled(taken.chunk, 0)).toBe(true);
            bytesOf(taken.chunk).fill(mark + 1);
            chunks.push({ chunk: taken.chunk, mark: mark + 1 });
          } else if ('give' in one) {
            const [given] = chunks.splice(one.give % (chunks.length || 1), 1);
            if (given !== undefined) slabs.give(given.chunk, one.keeps);
            expect(slabs.spareBytes).toBeGreaterThanOrEqual(0);
          } else if ('trim' in one) {
            slabs.trim(one.trim);
            expect(slabs.spareBytes).toBeLessThanOrEqual(one.trim);
          } else {
            slabs.prepare();
          }
        }
        for (const { chunk, mark } of chunks) {
          expect(isFilled(chunk, mark)).toBe(true);
          expect(chunk.byteOffset % 64).toBe(0);
        }
        for (const { chunk } of chunks) slabs.give(chunk, 0);
        slabs.trim(0);
        expect([slabs.realBytes, slabs.spareBytes]).toEqual([0, 0]);
      }),
      { numRuns: 30 },
    );
  }, 120_000);

  it('give memory back to the system by whole pages, beyond what is kept', () => {
    const pages = new PagesOfNoKernel();
    const slabs = new Slabs(pages);
    const chunks = Array.from({ length: 8 }, () => take(slabs));
    expect(slabs.realBytes).toBe(5 * HUGE_PAGE_BYTES);
    for (const chunk of chunks.slice(0, 4)) slabs.give(chunk, HUGE_PAGE_BYTES);
    expect(slabs.spareBytes).toBe(HUGE_PAGE_BYTES);
    expect(pages.released).toHaveLength(1);
    expect(slabs.realBytes).toBe(4 * HUGE_PAGE_BYTES);
    for (const chunk of chunks.slice(4)) slabs.give(chunk, 64 * MEBIBYTE);
    slabs.trim(0);
    expect(slabs.realBytes).toBe(0);
  });

  it('use memory again', () => {
    const slabs = new Slabs(new PagesOfNoKernel());
    for (let i = 0; i < 500; i++) slabs.give(take(slabs), 64 * MEBIBYTE);
    expect(slabs.realBytes).toBe(HUGE_PAGE_BYTES);
  });

  it('have the next chunk ready', () => {
    const slabs = new Slabs(new PagesOfNoKernel());
    slabs.prepare();
    expect(slabs.realBytes).toBe(0);
    for (let i = 0; i < 150; i++) {
      take(slabs);
      slabs.prepare();
      const before = slabs.realBytes;
      slabs.give(take(slabs), 64 * MEBIBYTE);
      expect(slabs.realBytes).toBe(before);
    }
  });

  it('get back what nobody refers to any more', async () => {
    const slabs = new Slabs(new PagesOfNoKernel());
    for (let i = 0; i < 20; i++) take(slabs);
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    await expect
      .poll(
        async () => {
          collect();
          await nextTurn();
          return slabs.realBytes;
        },
        { timeout: 30_000 },
      )
      .toBe(0);
  });

  it('have no chunk that is too large, and none when the kernel refuses', () => {
    expect(new Slabs(new PagesOfNoKernel()).take(40 * MEBIBYTE)).toBeNull();
    const refused = new PagesOfNoKernel();
    let asked = 0;
    const slabs = new Slabs({
      advise: () => {
        asked++;
        return null;
      },
      release: (...parts) => refused.release(...parts),
    });
    expect([slabs.take(MEBIBYTE), slabs.take(MEBIBYTE)]).toEqual([null, null]);
    slabs.prepare();
    expect(asked).toBe(1);
  });
});
