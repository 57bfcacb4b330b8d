import type { Space } from '../memory/space.js';
import { heapLength } from './prefix-bits.js';

/** The chunk with the value by heap index; −1: not stored. */
export const VALUES = 0;
/** The chunk with the heap index of the longest stored prefix by address; 0: none. */
export const LONGEST = 1;

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
