import { Space } from '../memory/space.js';
import { heapLength } from './prefix-bits.js';

/** The chunk with the value by heap index; −1: not stored. */
const VALUES = 0;
/** The chunk with the heap index of the longest stored prefix by address; 0: none. */
const LONGEST = 1;

/** Searches `ShortPrefixes`, in any thread. */
export class ShortPrefixLookup {
  private readonly chunks: readonly Int32Array[];

  constructor({ chunks }: Space) {
    this.chunks = chunks;
  }

  /** The value of the longest prefix of an address, given by its first bits; −1: none. Allocates nothing. */
  find(address: number): number {
    return this.chunks[VALUES][this.chunks[LONGEST][address]];
  }

  /** The length of that prefix. Undefined if there is none. */
  lengthAt(address: number): number {
    return heapLength(this.chunks[LONGEST][address]);
  }
}

/**
 * Longest-prefix match of prefixes of at most `bits` bits. One table has an entry for every possible prefix, a second
 * one the longest stored prefix for every address of `bits` bits. A prefix of n bits b has the heap index (1 << n) |
 * b. So longer prefixes have higher indices, and the index without its last bit is the prefix around it.
 */
export class ShortPrefixes {
  readonly lookup: ShortPrefixLookup;
  private count: number;

  /** @param from those of which the space was forked. */
  constructor(
    private readonly bits: number,
    private readonly space = new Space(),
    from?: ShortPrefixes,
  ) {
    this.count = from?.count ?? 0;
    if (from === undefined) {
      space.add(2 << bits).fill(-1);
      space.add(1 << bits);
    }
    this.lookup = new ShortPrefixLookup(space);
  }

  get size(): number {
    return this.count;
  }

  /** Memory held, in bytes. */
  get bytes(): number {
    return this.space.chunks[VALUES].byteLength + this.space.chunks[LONGEST].byteLength;
  }

  /** @returns the value the prefix had; −1: it was not stored. */
  set(address: number, length: number, value: number): number {
    const index = this.indexOf(address, length);
    const values = this.space.own(VALUES);
    const previous = values[index];
    values[index] = value;
    if (previous >= 0) return previous;
    this.count++;
    const longest = this.space.own(LONGEST);
    const end = this.endOf(address, length);
    for (let at = this.startOf(address, length); at < end; at++) {
      if (longest[at] < index) longest[at] = index;
    }
    return -1;
  }

  /** @returns the value the prefix had; −1: it was not stored. */
  delete(address: number, length: number): number {
    const index = this.indexOf(address, length);
    const values = this.space.own(VALUES);
    const previous = values[index];
    if (previous < 0) return -1;
    values[index] = -1;
    this.count--;
    let around = index >>> 1;
    while (around !== 0 && values[around] < 0) around >>>= 1;
    const longest = this.space.own(LONGEST);
    const end = this.endOf(address, length);
    for (let at = this.startOf(address, length); at < end; at++) {
      if (longest[at] === index) longest[at] = around;
    }
    return previous;
  }

  private indexOf(address: number, length: number): number {
    return (1 << length) | (address >>> (this.bits - length));
  }

  private startOf(address: number, length: number): number {
    const rest = this.bits - length;
    return (address >>> rest) << rest;
  }

  private endOf(address: number, length: number): number {
    return this.startOf(address, length) + (1 << (this.bits - length));
  }
}
