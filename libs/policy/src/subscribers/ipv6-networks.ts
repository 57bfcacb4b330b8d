import { Space } from '../memory/space.js';
import { Ipv6Lookup } from './ipv6-lookup.js';
import { PrefixTree } from './prefix-tree.js';

/** Networks of subscribers are rarely longer: the interface id of a host has 64 bits (RFC 4291 §2.5.1). */
const SHORT_BITS = 64;

/**
 * Longest-prefix match of IPv6 networks. Prefixes up to /64 are in a tree of half addresses, which needs half the
 * memory. The longer ones are in a second tree, which is searched first.
 */
export class Ipv6Networks {
  readonly lookup: Ipv6Lookup;
  private readonly short: PrefixTree;
  private readonly long: PrefixTree;

  /** @param from those of which the spaces were forked. */
  constructor(short = new Space(), long = new Space(), from?: Ipv6Networks) {
    this.short = new PrefixTree(2, 0, short, from?.short);
    this.long = new PrefixTree(4, 0, long, from?.long);
    this.lookup = new Ipv6Lookup(short, long);
  }

  get size(): number {
    return this.short.size + this.long.size;
  }

  /** Memory held, in bytes. */
  get bytes(): number {
    return this.short.bytes + this.long.bytes;
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
