import { PrefixTree } from './prefix-tree.js';

/** Networks of subscribers are rarely longer: the interface id of a host has 64 bits (RFC 4291 §2.5.1). */
const SHORT_BITS = 64;

/**
 * Longest-prefix match of IPv6 networks. Prefixes up to /64 are in a tree of half addresses, which needs half the
 * memory. The longer ones are in a second tree, which is searched first.
 */
export class Ipv6Networks {
  private readonly short = new PrefixTree(2);
  private readonly long = new PrefixTree(4);
  private isLongMatch = false;

  get size(): number {
    return this.short.size + this.long.size;
  }

  /** Memory held, in bytes. */
  get bytes(): number {
    return this.short.bytes + this.long.bytes;
  }

  /** The length of the prefix that the last `find` found. Undefined if it found none. */
  get matchedLength(): number {
    return (this.isLongMatch ? this.long : this.short).matchedLength;
  }

  /** The value of the longest network that holds the address (four words); −1: none. Allocates nothing. */
  find(words: Uint32Array): number {
    const value = this.long.size === 0 ? -1 : this.long.find(words);
    this.isLongMatch = value >= 0;
    return this.isLongMatch ? value : this.short.find(words);
  }

  /** As `PrefixTree.set`. */
  set(words: Uint32Array, length: number, value: number): number {
    return this.treeOf(length).set(words, length, value);
  }

  /** As `PrefixTree.delete`. */
  delete(words: Uint32Array, length: number): number {
    return this.treeOf(length).delete(words, length);
  }

  private treeOf(length: number): PrefixTree {
    return length <= SHORT_BITS ? this.short : this.long;
  }
}
