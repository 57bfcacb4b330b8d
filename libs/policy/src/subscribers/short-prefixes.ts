import { heapLength } from './prefix-bits.js';

/**
 * Longest-prefix match of prefixes up to `bits` long, by the first `bits` bits of an address: a place for every prefix that there can
 * be, and a table that names the longest that is stored for every address. A prefix of n bits, which are b, has place (1 << n) | b, so
 * longer ones have higher places and the place without its last bit is the prefix around it.
 */
export class ShortPrefixes {
  /** Value by place; −1: not stored. */
  private readonly values: Int32Array;
  /** Place of the longest stored prefix, by address; 0: none. */
  private readonly longest: Int32Array;
  private count = 0;

  constructor(private readonly bits: number) {
    this.values = new Int32Array(2 << bits).fill(-1);
    this.longest = new Int32Array(1 << bits);
  }

  get size(): number {
    return this.count;
  }

  /** Memory held, in bytes. */
  get bytes(): number {
    return this.values.byteLength + this.longest.byteLength;
  }

  /** The value of the longest prefix that holds the address, by its first bits; −1: none. Allocates nothing. */
  find(address: number): number {
    return this.values[this.longest[address]];
  }

  /** Length of that prefix, if there is one. */
  lengthAt(address: number): number {
    return heapLength(this.longest[address]);
  }

  /** @returns the value the prefix had; −1: it was not stored. */
  set(address: number, length: number, value: number): number {
    const place = this.placeOf(address, length);
    const previous = this.values[place];
    this.values[place] = value;
    if (previous >= 0) return previous;
    this.count++;
    const end = this.endOf(address, length);
    for (let at = this.startOf(address, length); at < end; at++) {
      if (this.longest[at] < place) this.longest[at] = place;
    }
    return -1;
  }

  /** @returns the value the prefix had; −1: it was not stored. */
  delete(address: number, length: number): number {
    const place = this.placeOf(address, length);
    const previous = this.values[place];
    if (previous < 0) return -1;
    this.values[place] = -1;
    this.count--;
    let around = place >>> 1;
    while (around !== 0 && this.values[around] < 0) around >>>= 1;
    const end = this.endOf(address, length);
    for (let at = this.startOf(address, length); at < end; at++) {
      if (this.longest[at] === place) this.longest[at] = around;
    }
    return previous;
  }

  private placeOf(address: number, length: number): number {
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
