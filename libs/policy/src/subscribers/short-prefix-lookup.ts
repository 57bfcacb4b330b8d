import type { Space } from '../memory/space.js';
import { heapLength } from './prefix-bits.js';

/** Searches `ShortPrefixes`, in any thread. */
export class ShortPrefixLookup {
  /** The value by heap index; −1: not stored. */
  private readonly values: Int32Array;
  /** The heap index of the longest stored prefix by address; 0: none. */
  private readonly longest: Int32Array;

  constructor({ chunks }: Space) {
    [this.values, this.longest] = chunks;
  }

  /** The value of the longest prefix of an address, given by its first bits; −1: none. Allocates nothing. */
  find(address: number): number {
    return this.values[this.longest[address]];
  }

  /** The length of that prefix. Undefined if there is none. */
  lengthAt(address: number): number {
    return heapLength(this.longest[address]);
  }
}
