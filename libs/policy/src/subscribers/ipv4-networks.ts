import { Space } from '../memory/space.js';
import { Ipv4Lookup, SHORT_BITS } from './ipv4-lookup.js';
import { PrefixTree } from './prefix-tree.js';
import { ShortPrefixes } from './short-prefixes.js';

/**
 * Longest-prefix match of IPv4 networks. Prefixes longer than /16 are in a tree that begins at bit 16 and has a root
 * for every /16. The others are in a table. So a search reads one word instead of the upper four levels of a tree.
 */
export class Ipv4Networks {
  readonly lookup: Ipv4Lookup;
  private readonly long: PrefixTree;
  private readonly short: ShortPrefixes;

  /** @param from those of which the spaces were forked. */
  constructor(long = new Space(), short = new Space(), from?: Ipv4Networks) {
    this.long = new PrefixTree(1, SHORT_BITS, long, from?.long);
    this.short = new ShortPrefixes(SHORT_BITS, short, from?.short);
    this.lookup = new Ipv4Lookup(long, short);
  }

  get size(): number {
    return this.long.size + this.short.size;
  }

  /** Memory held, in bytes. */
  get bytes(): number {
    return this.long.bytes + this.short.bytes;
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
