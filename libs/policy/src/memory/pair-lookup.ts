import { chunkOf, type Space, wordOf } from './space.js';
import { locate, mayContain, seek } from './pair-block.js';

/*
 * A reference to a table is an address and a shape. Shape 0: there is no table. Above 0: a table in one block of that
 * capacity. Below 0: a directory of 1 << ~shape leaves.
 */

/** Words of a reference to a table. The owner of a table keeps them, 0 at first; only `PairTables` changes them. */
export const REFERENCE_WORDS = 2;

/** Buckets of a leaf; also the most buckets of a table in one block. */
export const LEAF = 1024;

/** Buckets of each block of a table of that shape. */
export function capacityOf(shape: number): number {
  return shape > 0 ? shape : LEAF;
}

/** A mask of candidates has a bit for each of the first 31 words, and one for all others. */
const LAST_BIT = 31;

export function lowest(bits: number): number {
  return (1 << bits) - 1;
}

/** Reads the hash tables of a `PairTables`, in any thread. Allocates nothing. */
export class PairLookup {
  private readonly chunks: readonly Int32Array[];

  /** @param keyOfB mask of the bits of b that belong to the key. */
  constructor(
    space: Space,
    private readonly keyOfB: number,
  ) {
    this.chunks = space.chunks;
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
   * Which of the first `count` words of `as` may be the a of an entry, as bits: see `CatalogueIndex.candidateMask`. No
   * branch depends on memory, so all reads are made at the same time.
   */
  candidateMask(references: Int32Array, at: number, as: Uint32Array, count: number): number {
    const shape = references[at + 1];
    if (shape === 0) return 0;
    const capacity = capacityOf(shape);
    let mask = count > LAST_BIT ? 1 << LAST_BIT : 0;
    const end = Math.min(count, LAST_BIT);
    for (let i = 0; i < end; i++) {
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

  wordsAt(address: number): Int32Array {
    return this.chunks[chunkOf(address)];
  }
}
