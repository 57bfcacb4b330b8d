import { PrefixTree } from './prefix-tree.js';
import { ShortPrefixes } from './short-prefixes.js';

const SHORT_BITS = 16;

/**
 * Longest-prefix match of IPv4 networks. Prefixes longer than /16 are in a tree that begins at bit 16 and has a root
 * for every /16. The others are in a table. So a search reads one word instead of the upper four levels of a tree.
 */
export class Ipv4Networks {
  private readonly long = new PrefixTree(1, SHORT_BITS);
  private readonly short = new ShortPrefixes(SHORT_BITS);
  private matched = 0;

  get size(): number {
    return this.long.size + this.short.size;
  }

  /** Memory held, in bytes. */
  get bytes(): number {
    return this.long.bytes + this.short.bytes;
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

  /** As `PrefixTree.set`. */
  set(words: Uint32Array, length: number, value: number): number {
    return length > SHORT_BITS
      ? this.long.set(words, length, value)
      : this.short.set(words[0] >>> SHORT_BITS, length, value);
  }

  /** As `PrefixTree.delete`. */
  delete(words: Uint32Array, length: number): number {
    return length > SHORT_BITS
      ? this.long.delete(words, length)
      : this.short.delete(words[0] >>> SHORT_BITS, length);
  }
}
