import type { PolicySpaces } from '../policy-spaces.js';
import { NaptRanges } from './napt-ranges.js';
import { PrefixTree } from './prefix-tree.js';
import { SHORT_BITS, ShortPrefixes } from './short-prefixes.js';
import { SHORT_IPV6_WORDS } from './subscriber-lookup.js';

/** The networks of one family: those up to a length in a structure that suits them, the others in a tree. */
class Networks<S extends PrefixTree | ShortPrefixes> {
  constructor(
    readonly short: S,
    private readonly shortBits: number,
    readonly long: PrefixTree,
  ) {}

  get size(): number {
    return this.short.size + this.long.size;
  }

  get bytes(): number {
    return this.short.bytes + this.long.bytes;
  }

  /** As `PrefixTree.set`. */
  set(words: Uint32Array, length: number, value: number): number {
    return (length <= this.shortBits ? this.short : this.long).set(words, length, value);
  }

  /** As `PrefixTree.delete`. */
  delete(words: Uint32Array, length: number): number {
    return (length <= this.shortBits ? this.short : this.long).delete(words, length);
  }
}

/** Profile slots of subscribers by NAPT range and by network, in the structures of STRUCTURES.md. */
export class Subscribers {
  readonly naptRanges: NaptRanges;
  readonly ipv4Networks: Networks<ShortPrefixes>;
  readonly ipv6Networks: Networks<PrefixTree>;

  constructor(spaces: PolicySpaces, from?: Subscribers) {
    this.naptRanges = new NaptRanges(spaces.naptAddresses, spaces.naptRanges, from?.naptRanges);
    const [ipv4, ipv6] = [from?.ipv4Networks, from?.ipv6Networks];
    this.ipv4Networks = new Networks(
      new ShortPrefixes(spaces.ipv4Short, ipv4?.short),
      SHORT_BITS,
      new PrefixTree(1, SHORT_BITS, spaces.ipv4Long, ipv4?.long),
    );
    this.ipv6Networks = new Networks(
      new PrefixTree(SHORT_IPV6_WORDS, 0, spaces.ipv6Short, ipv6?.short),
      SHORT_IPV6_WORDS * 32,
      new PrefixTree(4, 0, spaces.ipv6Long, ipv6?.long),
    );
  }
}
