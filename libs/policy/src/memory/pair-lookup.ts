import { chunkOf, wordOf } from './address.js';
import { COUNT_MASK, locate, mayContain, seek } from './pair-block.js';
import { capacityOf, lowest } from './pair-reference.js';
import type { Space } from './space.js';

/** Reads the hash tables of a `PairTables`, in any thread. Allocates nothing, but for `count`. */
export class PairLookup {
  private readonly chunks: readonly Int32Array[];

  /** @param keyOfB mask of the bits of b that belong to the key. */
  constructor(
    space: Space,
    private readonly keyOfB: number,
  ) {
    this.chunks = space.chunks;
  }

  /** The number of entries of a table. Adds up its blocks. */
  count(references: Int32Array, at: number): number {
    const shape = references[at + 1];
    if (shape === 0) return 0;
    const words = this.wordsAt(references[at]);
    const start = wordOf(references[at]);
    if (shape > 0) return words[start] & COUNT_MASK;
    const leaves = new Set(words.subarray(start, start + (1 << ~shape)));
    let sum = 0;
    for (const leaf of leaves) sum += this.wordsAt(leaf)[wordOf(leaf)] & COUNT_MASK;
    return sum;
  }

  isEmpty(references: Int32Array, at: number): boolean {
    return references[at + 1] === 0;
  }

  /** Word b of the entry with that key in the table whose reference is at `at`; 0: there is none. */
  find(references: Int32Array, at: number, a: number, b: number): number {
    const shape = references[at + 1];
    if (shape === 0) return 0;
    const block = this.blockOf(references, at, a);
    const words = this.wordsAt(block);
    const first = seek(words, wordOf(block), capacityOf(shape), a);
    const bucket = locate(words, first, a, b, this.keyOfB);
    return bucket < 0 ? 0 : words[bucket + 1];
  }

  /**
   * Which of the first `count` words of `as`, at most 32, may be the a of an entry, as bits by index. A word without
   * its bit is not. For several keys of which few exist: no branch depends on memory, so all reads are made at the
   * same time.
   */
  candidateMask(references: Int32Array, at: number, as: Uint32Array, count: number): number {
    const shape = references[at + 1];
    if (shape === 0) return 0;
    const capacity = capacityOf(shape);
    let mask = 0;
    for (let i = 0; i < count; i++) {
      const a = as[i] | 0;
      const block = this.blockOf(references, at, a);
      mask |= mayContain(this.wordsAt(block), wordOf(block), capacity, a) << i;
    }
    return mask;
  }

  /** The block that has, or would have, an entry with that a. */
  blockOf(references: Int32Array, at: number, a: number): number {
    const address = references[at];
    const shape = references[at + 1];
    return shape > 0 ? address : this.wordsAt(address)[wordOf(address) + (a & lowest(~shape))];
  }

  /** The chunk of an address. */
  wordsAt(address: number): Int32Array {
    return this.chunks[chunkOf(address)];
  }
}
