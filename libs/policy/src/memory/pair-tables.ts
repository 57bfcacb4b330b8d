import { wordOf } from './address.js';
import { Arena } from './arena.js';
import {
  allocateBlock,
  blockWords,
  closeGap,
  COUNT_MASK,
  insert,
  locate,
  refill,
  seek,
} from './pair-block.js';
import { PairDirectories } from './pair-directories.js';
import { capacityOf, LEAF, PairLookup } from './pair-lookup.js';
import { Space } from './space.js';

const MAX_LOAD = 0.8;
const GROWTH = 1.5;
/** The capacities of a table in one block. */
const CAPACITIES = capacities(2, LEAF);

/**
 * Hash tables of two-word entries (a, b) in one arena: any number of tables of any size. pair-block.ts describes a
 * block.
 *
 * A small table is one block, which grows by a half until it has 1024 buckets. A larger one uses extendible hashing:
 * a directory points to a leaf for each value of the lowest bits of a, and a full leaf is split into two by one more
 * bit. So no insertion or removal moves more than 820 entries. All leaves have the same size, so any released one can
 * be reused. When the directory has no bit left for a split it is doubled, which copies about four bytes for every
 * 600 entries.
 *
 * All of a, a signed word, belongs to the key, and the owner chooses which bits of b do; the others are the value. b
 * is never 0. a should be random, as all its bits are used.
 */
export class PairTables {
  /** Reads the tables. */
  readonly lookup: PairLookup;
  private readonly arena: Arena;
  /** Room for one block that is being rebuilt. */
  private readonly scratch = new Int32Array(blockWords(LEAF));
  private readonly directories: PairDirectories;

  /**
   * @param keyOfB mask of the bits of b that belong to the key.
   * @param from those of which the space was forked.
   */
  constructor(
    private readonly keyOfB: number,
    space = new Space(),
    from?: PairTables,
  ) {
    this.arena = new Arena(blockWords(LEAF), space, from?.arena);
    this.lookup = new PairLookup(space, keyOfB);
    this.directories = new PairDirectories(this.arena, this.lookup, this.scratch);
  }

  /** Memory held by all tables, in bytes, without the references. */
  get bytes(): number {
    return this.arena.bytes;
  }

  /**
   * Inserts an entry, or replaces the one with the same key.
   * @param references an array that may be written.
   * @returns word b of the replaced entry; 0: there was none.
   * @throws RangeError when the directory has its full size and a leaf is full.
   */
  set(references: Int32Array, at: number, a: number, b: number): number {
    for (;;) {
      const shape = references[at + 1];
      if (shape !== 0) {
        const block = this.lookup.blockOf(references, at, a);
        const words = this.arena.own(block);
        const start = wordOf(block);
        const capacity = capacityOf(shape);
        const first = seek(words, start, capacity, a);
        const bucket = locate(words, first, a, b, this.keyOfB);
        if (bucket >= 0) {
          const previous = words[bucket + 1];
          words[bucket + 1] = b;
          return previous;
        }
        const hasRoom = (words[start] & COUNT_MASK) < capacity * MAX_LOAD;
        if (hasRoom && insert(words, start, capacity, first, a, b)) return 0;
      }
      if (shape < 0) this.directories.split(references, at, a);
      else this.grow(references, at);
    }
  }

  /** @returns word b of the deleted entry; 0: there was none. */
  delete(references: Int32Array, at: number, a: number, b: number): number {
    const shape = references[at + 1];
    if (shape === 0) return 0;
    const block = this.lookup.blockOf(references, at, a);
    const words = this.arena.own(block);
    const start = wordOf(block);
    const capacity = capacityOf(shape);
    const bucket = locate(words, seek(words, start, capacity, a), a, b, this.keyOfB);
    if (bucket < 0) return 0;
    const previous = words[bucket + 1];
    closeGap(words, start, capacity, bucket);
    words[start]--;
    if (shape < 0) this.directories.merge(references, at, a);
    this.shrink(references, at);
    return previous;
  }

  /** Enlarges a table in one block, or creates it. */
  private grow(references: Int32Array, at: number): void {
    const shape = references[at + 1];
    if (shape === 0) {
      references[at] = allocateBlock(this.arena, CAPACITIES[0]);
      references[at + 1] = CAPACITIES[0];
      return;
    }
    const capacity = CAPACITIES.find((one) => one > shape);
    if (capacity === undefined) this.directories.start(references, at);
    // The entries fit in a larger block: it has no fewer buckets from any home to the end.
    else this.resize(references, at, capacity);
  }

  /** Shrinks a table in one block that is nearly empty. */
  private shrink(references: Int32Array, at: number): void {
    const capacity = references[at + 1];
    if (capacity < 0) return;
    const count = this.headOf(references[at]);
    if (count === 0) {
      this.arena.release(references[at], blockWords(capacity));
      references[at] = 0;
      references[at + 1] = 0;
    } else if (count * 4 < capacity) {
      this.resize(references, at, CAPACITIES.find((one) => one >= count * 2) ?? LEAF);
    }
  }

  /** Moves a table to a block of that capacity. If its entries do not fit there, it stays where it is. */
  private resize(references: Int32Array, at: number, capacity: number): void {
    const { arena, scratch } = this;
    const from = references[at];
    const old = references[at + 1];
    if (!refill(this.lookup.wordsAt(from), wordOf(from), old, scratch, 0, capacity)) return;
    // Released first, so that the new block may begin at the same address.
    arena.release(from, blockWords(old));
    const to = arena.allocate(blockWords(capacity));
    const words = this.arena.own(to);
    const start = wordOf(to);
    for (let i = blockWords(capacity) - 1; i >= 0; i--) words[start + i] = scratch[i];
    references[at] = to;
    references[at + 1] = capacity;
  }

  private headOf(block: number): number {
    return this.lookup.wordsAt(block)[wordOf(block)];
  }
}

function capacities(least: number, most: number): number[] {
  const all: number[] = [];
  for (let capacity = least; capacity < most; capacity = Math.ceil(capacity * GROWTH)) {
    all.push(capacity);
  }
  return [...all, most];
}
