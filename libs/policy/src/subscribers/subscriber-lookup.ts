import type { Client } from '../client.js';
import { NaptLookup } from './napt-ranges.js';
import type { Space } from '../memory/space.js';
import { PrefixLookup } from './prefix-lookup.js';
import { ShortPrefixLookup } from './short-prefixes.js';

/** The memory of `Subscribers`. */
export interface SubscriberSpaces {
  readonly naptAddresses: Space;
  readonly naptRanges: Space;
  readonly ipv4Long: Space;
  readonly ipv4Short: Space;
  readonly ipv6Short: Space;
  readonly ipv6Long: Space;
}

/**
 * The kind of record that a client was found by. `outsideRanges`: none, but its address has NAPT ranges, which do not
 * have its port.
 */
export const MatchedBy = { nothing: 0, naptRange: 1, network: 2, outsideRanges: 3 } as const;
export type MatchedBy = (typeof MatchedBy)[keyof typeof MatchedBy];

/** The record that identifies the subscriber of a client. Reused; fields that do not belong to `by` are undefined. */
export class SubscriberMatch {
  by: MatchedBy = MatchedBy.nothing;
  /** The bounds of the NAPT range, both inclusive. */
  lowerPort = 0;
  upperPort = 0;
  /** The prefix length of the network, which is of the family of the client. */
  prefixLength = 0;
}

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

/** Finds the profile slots of clients in `Subscribers`, in any thread. */
export class SubscriberLookup {
  /** How the last `find` found its client. */
  matchedBy: MatchedBy = MatchedBy.nothing;
  private readonly naptRanges: NaptLookup;
  private readonly ipv4Networks: Ipv4Lookup;
  private readonly ipv6Networks: Ipv6Lookup;

  constructor(spaces: SubscriberSpaces) {
    this.naptRanges = new NaptLookup(spaces.naptAddresses, spaces.naptRanges);
    this.ipv4Networks = new Ipv4Lookup(spaces.ipv4Long, spaces.ipv4Short);
    this.ipv6Networks = new Ipv6Lookup(spaces.ipv6Short, spaces.ipv6Long);
  }

  /**
   * The slot by the narrowest NAPT range, else by the longest network (decisions §7); −1: neither. Allocates nothing.
   */
  find({ family, words, port }: Client): number {
    if (family === 6) {
      const slot = this.ipv6Networks.find(words);
      this.matchedBy = slot >= 0 ? MatchedBy.network : MatchedBy.nothing;
      return slot;
    }
    // Signed: an argument beyond 31 bits would be boxed.
    const address = words[0] | 0;
    const inRange = this.naptRanges.find(address, port);
    if (inRange >= 0) {
      this.matchedBy = MatchedBy.naptRange;
      return inRange;
    }
    const slot = this.ipv4Networks.find(words);
    if (slot >= 0) this.matchedBy = MatchedBy.network;
    else
      this.matchedBy = this.naptRanges.has(address) ? MatchedBy.outsideRanges : MatchedBy.nothing;
    return slot;
  }

  /** Sets `out` to the record by which `find` finds the client. Allocates nothing. */
  match(client: Client, out: SubscriberMatch): void {
    this.find(client);
    out.by = this.matchedBy;
    if (out.by === MatchedBy.naptRange) {
      out.lowerPort = this.naptRanges.matchedLowerPort;
      out.upperPort = this.naptRanges.matchedUpperPort;
    }
    if (out.by === MatchedBy.network) {
      const networks = client.family === 6 ? this.ipv6Networks : this.ipv4Networks;
      out.prefixLength = networks.matchedLength;
    }
  }
}
