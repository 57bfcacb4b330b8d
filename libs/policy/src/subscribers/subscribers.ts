import { Space } from '../memory/space.js';
import { Ipv4Lookup, Ipv6Lookup, SHORT_BITS, type SubscriberSpaces } from './subscriber-lookup.js';
import { NaptRanges } from './napt-ranges.js';
import { PrefixTree } from './prefix-tree.js';
import { ShortPrefixes } from './short-prefixes.js';

/** Networks of subscribers are rarely longer: the interface id of a host has 64 bits (RFC 4291 §2.5.1). */
const SHORT_IPV6_BITS = 64;

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
    return length <= SHORT_IPV6_BITS ? this.short : this.long;
  }
}

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

/** Profile slots of subscribers by NAPT range and by network. */
export class Subscribers {
  readonly naptRanges: NaptRanges;
  readonly ipv4Networks: Ipv4Networks;
  readonly ipv6Networks: Ipv6Networks;

  /** @param from those of which the spaces were forked. */
  constructor(spaces: SubscriberSpaces, from?: Subscribers) {
    const { naptAddresses, naptRanges, ipv4Long, ipv4Short, ipv6Short, ipv6Long } = spaces;
    this.naptRanges = new NaptRanges(naptAddresses, naptRanges, from?.naptRanges);
    this.ipv4Networks = new Ipv4Networks(ipv4Long, ipv4Short, from?.ipv4Networks);
    this.ipv6Networks = new Ipv6Networks(ipv6Short, ipv6Long, from?.ipv6Networks);
  }
}
