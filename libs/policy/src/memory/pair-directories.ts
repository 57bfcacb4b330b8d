import { wordOf } from './address.js';
import type { Arena } from './arena.js';
import {
  addAll,
  allocateBlock,
  blockWords,
  clear,
  COUNT_MASK,
  DEPTH_SHIFT,
  endOf,
  ENTRY,
  firstOf,
  FREE_B,
  insert,
  seek,
} from './pair-block.js';
import { LEAF, lowest, type PairLookup } from './pair-lookup.js';

/** Two leaves are merged when the result has at most this load. */
const MERGED_LOAD = 0.3;
/** A directory has at most 4 million leaves. */
const MAX_BITS = 22;

/** Tables that are too large for one block: extendible hashing by the lowest bits of a. */
export class PairDirectories {
  /** @param scratch room for a leaf that is being split or merged. */
  constructor(
    private readonly arena: Arena,
    private readonly lookup: PairLookup,
    private readonly scratch: Int32Array,
  ) {}

  /** Makes a table in one block, which must have as many buckets as a leaf, the only leaf of a directory. */
  start(references: Int32Array, at: number): void {
    const directory = this.arena.allocate(1);
    this.arena.own(directory)[wordOf(directory)] = references[at];
    references[at] = directory;
    references[at + 1] = ~0;
  }

  /** Splits the leaf for a into two. @throws RangeError when the directory has its full size. */
  split(references: Int32Array, at: number, a: number): void {
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

  /**
   * Merges the leaf for a with its other half, while both are nearly empty. The last leaf becomes a table in one
   * block.
   */
  merge(references: Int32Array, at: number, a: number): void {
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

  /**
   * Moves the entries of `other` to `leaf`.
   * @returns false: there are too many, or the depths differ; nothing is done.
   */
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

  private headOf(block: number): number {
    return this.lookup.wordsAt(block)[wordOf(block)];
  }

  private setDepth(leaf: number, depth: number): void {
    this.arena.own(leaf)[wordOf(leaf)] = (this.headOf(leaf) & COUNT_MASK) | (depth << DEPTH_SHIFT);
  }
}
