import type { Space } from '../memory/space.js';
import { PrefixLookup } from './prefix-lookup.js';
import { ShortPrefixLookup } from './short-prefix-lookup.js';

/** The longest prefixes that are in the table. */
export const SHORT_BITS = 16;

/** Searches `Ipv4Networks`, in any thread. */
export class Ipv4Lookup {
  private readonly long: PrefixLookup;
  private readonly short: ShortPrefixLookup;
  private matched = 0;

  constructor(long: Space, short: Space) {
    this.long = new PrefixLookup(long, 1, SHORT_BITS);
    this.short = new ShortPrefixLookup(short);
  }

  /** The length of the prefix that the last `find` found. Undefined if it found none. */
  get matchedLength(): number {
    return this.matched;
  }

  /** The value of the longest network that holds the address (word 0); −1: none. Allocates nothing. */
  find(words: Uint32Array): number {
    const value = this.long.find(words);
    if (value >= 0) {
      this.matched = this.long.matchedLength;
      return value;
    }
    const address = words[0] >>> SHORT_BITS;
    this.matched = this.short.lengthAt(address);
    return this.short.find(address);
  }
}
