import { Arena } from './arena.js';
import {
  addAll,
  allocateBlock,
  blockWords,
  clear,
  closeGap,
  COUNT_MASK,
  DEPTH_SHIFT,
  endOf,
  ENTRY,
  firstOf,
  FREE_B,
  insert,
  locate,
  refill,
  seek,
} from './pair-block.js';
import { capacityOf, LEAF, lowest, PairLookup } from './pair-lookup.js';
import { Space, wordOf } from './space.js';

const MAX_LOAD = 0.8;
const GROWTH = 1.5;
/** Two leaves are merged when the result has at most this load. */
const MERGED_LOAD = 0.3;
/** A directory has at most 4 million leaves. */
const MAX_BITS = 22;
const CAPACITIES = capacities(2, LEAF);

/**
 * Hash tables of two-word entries (a, b) in one arena: any number of tables of any size. Small ones are one block
 * (pair-block.ts), which grows by a half; larger ones use extendible hashing by the lowest bits of a. No insertion or
 * removal moves more than 820 entries. STRUCTURES.md has the picture.
 *
 * All of a, a signed word, belongs to the key, and the owner chooses which bits of b do; the others are the value. b
 * is never 0. a should be random, as all its bits are used.
 */
export class PairTables {
  readonly lookup: PairLookup;
  private readonly arena: Arena;
  /** Room for one block that is being rebuilt. */
  private readonly scratch = new Int32Array(blockWords(LEAF));

  /** @param keyOfB mask of the bits of b that belong to the key. */
  constructor(
    private readonly keyOfB: number,
    space = new Space(),
    from?: PairTables,
  ) {
    this.arena = new Arena(blockWords(LEAF), space, from?.arena);
    this.lookup = new PairLookup(space, keyOfB);
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
      if (shape < 0) this.split(references, at, a);
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
    if (shape < 0) this.merge(references, at, a);
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
    if (capacity === undefined) this.startDirectory(references, at);
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

  /** Makes a table in one block, which must have as many buckets as a leaf, the only leaf of a directory. */
  private startDirectory(references: Int32Array, at: number): void {
    const directory = this.arena.allocate(1);
    this.arena.own(directory)[wordOf(directory)] = references[at];
    references[at] = directory;
    references[at + 1] = ~0;
  }

  /** Splits the leaf for a into two. @throws RangeError when the directory has its full size. */
  private split(references: Int32Array, at: number, a: number): void {
    const leaf = this.lookup.blockOf(references, at, a);
    const depth = this.headOf(leaf) >>> DEPTH_SHIFT;
    if (depth === ~references[at + 1]) this.doubleDirectory(references, at);
    const next = allocateBlock(this.arena, LEAF);
    const words = this.arena.own(leaf);
    const start = wordOf(leaf);
    const { scratch } = this;
    scratch.set(words.subarray(start, start + scratch.length));
    clear(words, start, LEAF);
    for (let entry = firstOf(0, LEAF); entry < endOf(0, LEAF); entry += ENTRY) {
      if (scratch[entry + 1] === FREE_B) continue;
      const to = ((scratch[entry] >>> depth) & 1) === 0 ? leaf : next;
      const toWords = this.lookup.wordsAt(to);
      const first = seek(toWords, wordOf(to), LEAF, scratch[entry]);
      // There is room: no entry is further from home than before.
      insert(toWords, wordOf(to), LEAF, first, scratch[entry], scratch[entry + 1]);
    }
    this.setDepth(leaf, depth + 1);
    this.setDepth(next, depth + 1);
    this.point(references, at, (a & lowest(depth)) | (1 << depth), depth + 1, next);
  }

  /** Merges the leaf for a with its other half while both are nearly empty. The last becomes a table in one block. */
  private merge(references: Int32Array, at: number, a: number): void {
    for (;;) {
      const leaf = this.lookup.blockOf(references, at, a);
      const depth = this.headOf(leaf) >>> DEPTH_SHIFT;
      if (depth === 0) break;
      const other = this.lookup.blockOf(references, at, a ^ (1 << (depth - 1)));
      if (!this.unite(leaf, other)) return;
      this.setDepth(leaf, depth - 1);
      this.point(references, at, a & lowest(depth - 1), depth - 1, leaf);
      this.arena.release(other, blockWords(LEAF));
    }
    const directory = references[at];
    references[at] = this.lookup.blockOf(references, at, a);
    this.arena.release(directory, 1 << ~references[at + 1]);
    references[at + 1] = LEAF;
  }

  private doubleDirectory(references: Int32Array, at: number): void {
    const bits = ~references[at + 1];
    if (bits === MAX_BITS) throw new RangeError('a table of a policy is full');
    const size = 1 << bits;
    const address = references[at];
    const next = this.arena.allocate(size * 2);
    const words = this.arena.own(next);
    const old = this.lookup.wordsAt(address).subarray(wordOf(address), wordOf(address) + size);
    words.set(old, wordOf(next));
    words.set(old, wordOf(next) + size);
    this.arena.release(address, size);
    references[at] = next;
    references[at + 1] = ~(bits + 1);
  }

  /** Moves the entries of `other` to `leaf`. @returns false: too many, or the depths differ; nothing is done. */
  private unite(leaf: number, other: number): boolean {
    const [head, otherHead] = [this.headOf(leaf), this.headOf(other)];
    if (head >>> DEPTH_SHIFT !== otherHead >>> DEPTH_SHIFT) return false;
    if ((head & COUNT_MASK) + (otherHead & COUNT_MASK) > LEAF * MERGED_LOAD) return false;
    const { scratch } = this;
    const words = this.arena.own(leaf);
    const start = wordOf(leaf);
    scratch.set(words.subarray(start, start + scratch.length));
    if (!addAll(this.lookup.wordsAt(other), wordOf(other), scratch, 0, LEAF)) return false;
    words.set(scratch, start);
    return true;
  }

  /** Makes the directory point to a leaf for all a whose lowest `depth` bits are `bits`. */
  private point(
    references: Int32Array,
    at: number,
    bits: number,
    depth: number,
    leaf: number,
  ): void {
    const words = this.arena.own(references[at]);
    const start = wordOf(references[at]);
    const size = 1 << ~references[at + 1];
    for (let i = bits; i < size; i += 1 << depth) words[start + i] = leaf;
  }

  private setDepth(leaf: number, depth: number): void {
    this.arena.own(leaf)[wordOf(leaf)] = (this.headOf(leaf) & COUNT_MASK) | (depth << DEPTH_SHIFT);
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
