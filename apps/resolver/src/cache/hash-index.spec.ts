import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HashIndex, SLOT_WORDS } from './hash-index.js';

const indexOf = (slots: number) =>
  new HashIndex(new Int32Array(slots * SLOT_WORDS), new Int32Array(1), 0);

function offsetsOf(index: HashIndex, tag: number): number[] {
  const offsets: number[] = [];
  for (let slot = index.first(tag); slot >= 0; slot = index.next(slot, tag)) {
    offsets.push(index.offsetAt(slot));
  }
  return offsets.sort((a, b) => a - b);
}

describe('HashIndex', () => {
  it('behaves like a Map of sets', () => {
    const step = fc.record({
      // Few home slots of 16, so that runs meet and wrap around.
      tag: fc.constantFrom(0, 1, 14, 15, 16, 31, -1, -2, 0x7fff_ffff),
      offset: fc.integer({ min: 0, max: 5 }),
      isMove: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const index = indexOf(16);
        const oracle = new Map<number, Set<number>>();
        let count = 0;
        for (const { tag, offset, isMove } of steps) {
          const set = oracle.get(tag) ?? new Set();
          oracle.set(tag, set);
          if (set.has(offset)) {
            set.delete(offset);
            if (isMove && !set.has(offset + 10)) {
              index.move(tag, offset, offset + 10);
              set.add(offset + 10);
            } else {
              index.remove(tag, offset);
              count--;
            }
          } else if (!index.isFull) {
            index.put(tag, offset);
            set.add(offset);
            count++;
          }
          expect(index.count).toBe(count);
          for (const [asked, offsets] of oracle) {
            expect(offsetsOf(index, asked)).toEqual([...offsets].sort((a, b) => a - b));
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('is full when three quarters of the slots are used', () => {
    const index = indexOf(16);
    for (let i = 0; i < 12; i++) {
      expect(index.isFull).toBe(false);
      index.put(i, i);
    }
    expect(index.isFull).toBe(true);
  });

  it('throws when the entry to remove does not exist', () => {
    expect(() => indexOf(16).remove(1, 1)).toThrow('no such entry');
  });
});
