import type { Space } from '../memory/space.js';
import { heapLength } from './prefix-bits.js';

/** The longest prefixes that are in the table. */
export const SHORT_BITS = 16;
/** The chunk with the value by heap index; −1: not stored. */
const VALUES = 0;
/** The chunk with the heap index of the longest stored prefix by the first 16 bits of an address; 0: none. */
const LONGEST = 1;

/** Searches `ShortPrefixes`, in any thread. */
export class ShortPrefixLookup {
  /** The length of the prefix that the last `find` found. Undefined if it found none. */
  matchedLength = 0;
  private readonly chunks: readonly Int32Array[];

  constructor({ chunks }: Space) {
    this.chunks = chunks;
  }

  /** The value of the longest prefix that holds the address (word 0); −1: none. Allocates nothing. */
  find(words: Uint32Array): number {
    const index = this.chunks[LONGEST][words[0] >>> SHORT_BITS];
    this.matchedLength = heapLength(index);
    return this.chunks[VALUES][index];
  }
}

/**
 * Longest-prefix match of IPv4 prefixes of at most 16 bits. One table has an entry for every possible prefix, a second
 * one the longest stored prefix for every address of 16 bits. A prefix of n bits b has the heap index (1 << n) | b. So
 * longer prefixes have higher indices, and the index without its last bit is the prefix around it.
 */
export class ShortPrefixes {
  size: number;

  constructor(
    private readonly space: Space,
    from?: ShortPrefixes,
  ) {
    this.size = from?.size ?? 0;
    if (from !== undefined) return;
    space.add(2 << SHORT_BITS).fill(-1);
    space.add(1 << SHORT_BITS);
  }

  get bytes(): number {
    return this.space.chunks[VALUES].byteLength + this.space.chunks[LONGEST].byteLength;
  }

  /** As `PrefixTree.set`. */
  set(words: Uint32Array, length: number, value: number): number {
    const index = indexOf(words, length);
    const values = this.space.own(VALUES);
    const previous = values[index];
    values[index] = value;
    if (previous >= 0) return previous;
    this.size++;
    const longest = this.space.own(LONGEST);
    const start = words[0] >>> SHORT_BITS;
    const end = start + (1 << (SHORT_BITS - length));
    for (let at = start; at < end; at++) if (longest[at] < index) longest[at] = index;
    return -1;
  }

  /** As `PrefixTree.delete`. */
  delete(words: Uint32Array, length: number): number {
    const index = indexOf(words, length);
    const values = this.space.own(VALUES);
    const previous = values[index];
    if (previous < 0) return -1;
    values[index] = -1;
    this.size--;
    let around = index >>> 1;
    while (around !== 0 && values[around] < 0) around >>>= 1;
    const longest = this.space.own(LONGEST);
    const start = words[0] >>> SHORT_BITS;
    const end = start + (1 << (SHORT_BITS - length));
    for (let at = start; at < end; at++) if (longest[at] === index) longest[at] = around;
    return previous;
  }
}

/** @param words masked to `length` bits. */
function indexOf(words: Uint32Array, length: number): number {
  return (1 << length) | ((words[0] >>> SHORT_BITS) >>> (SHORT_BITS - length));
}
