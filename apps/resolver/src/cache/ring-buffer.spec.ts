import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RING_WORDS, RingBuffer } from './ring-buffer.js';

describe('RingBuffer', () => {
  it('releases records in order, complete and without overlap', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 300 }), (sizes) => {
        const words = new Int32Array(200);
        const ring = new RingBuffer(words, 50, 150, new Int32Array(5), 1);
        const live: { offset: number; size: number; mark: number }[] = [];
        sizes.forEach((size, mark) => {
          let offset = ring.reserve(size);
          while (offset < 0) {
            const oldest = ring.oldest();
            if (words[oldest] > 0) {
              const first = live.shift()!;
              expect(oldest).toBe(first.offset);
              const content = [...words.subarray(oldest + 1, oldest + first.size)];
              expect(content).toEqual(content.map(() => first.mark));
            }
            ring.release();
            offset = ring.reserve(size);
          }
          expect(words[offset]).toBe(size);
          expect(offset).toBeGreaterThanOrEqual(50);
          expect(offset + size).toBeLessThanOrEqual(150);
          expect(ring.contains(offset)).toBe(true);
          words.fill(mark, offset + 1, offset + size);
          live.push({ offset, size, mark });
          const liveWords = live.reduce((sum, record) => sum + record.size, 0);
          expect(ring.used).toBeGreaterThanOrEqual(liveWords);
          expect(ring.used).toBeLessThanOrEqual(ring.capacity);
        });
        expect([...words.subarray(0, 50), ...words.subarray(150)].every((word) => word === 0)).toBe(
          true,
        );
      }),
    );
  });

  it('accepts one record of its whole capacity', () => {
    const ring = new RingBuffer(new Int32Array(10), 0, 10, new Int32Array(RING_WORDS), 0);
    expect(ring.reserve(3)).toBe(0);
    ring.release();
    expect(ring.reserve(10)).toBe(0);
    expect(ring.reserve(1)).toBe(-1);
    ring.release();
    expect(ring.oldest()).toBe(-1);
  });
});
