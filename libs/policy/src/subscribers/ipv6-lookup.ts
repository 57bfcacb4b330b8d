import type { Space } from '../memory/space.js';
import { PrefixLookup } from './prefix-lookup.js';

/** Searches `Ipv6Networks`, in any thread. */
export class Ipv6Lookup {
  private readonly short: PrefixLookup;
  private readonly long: PrefixLookup;
  private isLongMatch = false;

  constructor(short: Space, long: Space) {
    this.short = new PrefixLookup(short, 2);
    this.long = new PrefixLookup(long, 4);
  }

  /** The length of the prefix that the last `find` found. Undefined if it found none. */
  get matchedLength(): number {
    return (this.isLongMatch ? this.long : this.short).matchedLength;
  }

  /** The value of the longest network that holds the address (four words); −1: none. Allocates nothing. */
  find(words: Uint32Array): number {
    const value = this.long.find(words);
    this.isLongMatch = value >= 0;
    return this.isLongMatch ? value : this.short.find(words);
  }
}
