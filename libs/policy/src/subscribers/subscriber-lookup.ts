import type { Client } from '../client-address.js';
import type { PolicySpaces } from '../policy-spaces.js';
import { NaptLookup } from './napt-ranges.js';
import { PrefixLookup } from './prefix-lookup.js';
import { SHORT_BITS, ShortPrefixLookup } from './short-prefixes.js';

/** What a client was found by. `outsideRanges`: nothing, but its address has NAPT ranges, without its port. */
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

/** Networks of subscribers are rarely longer than /64: the interface id of a host has 64 bits (RFC 4291 §2.5.1). */
export const SHORT_IPV6_WORDS = 2;

/** Finds the profile slots of clients in `Subscribers`, in any thread. */
export class SubscriberLookup {
  /** How the last `find` found its client. */
  matchedBy: MatchedBy = MatchedBy.nothing;
  /** The length of that network. Undefined if it was none. */
  private matchedLength = 0;
  private readonly naptRanges: NaptLookup;
  private readonly ipv4Long: PrefixLookup;
  private readonly ipv4Short: ShortPrefixLookup;
  private readonly ipv6Short: PrefixLookup;
  private readonly ipv6Long: PrefixLookup;

  constructor(spaces: PolicySpaces) {
    this.naptRanges = new NaptLookup(spaces.naptAddresses, spaces.naptRanges);
    this.ipv4Long = new PrefixLookup(spaces.ipv4Long, 1, SHORT_BITS);
    this.ipv4Short = new ShortPrefixLookup(spaces.ipv4Short);
    this.ipv6Short = new PrefixLookup(spaces.ipv6Short, SHORT_IPV6_WORDS);
    this.ipv6Long = new PrefixLookup(spaces.ipv6Long, 4);
  }

  /** The slot by the narrowest NAPT range, else by the longest network (decisions §7); −1: none. Allocates nothing. */
  find({ family, words, port }: Client): number {
    if (family === 6) {
      const slot = this.findNetwork(this.ipv6Long, this.ipv6Short, words);
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
    const slot = this.findNetwork(this.ipv4Long, this.ipv4Short, words);
    if (slot >= 0) this.matchedBy = MatchedBy.network;
    else
      this.matchedBy = this.naptRanges.has(address) ? MatchedBy.outsideRanges : MatchedBy.nothing;
    return slot;
  }

  /** Sets `out` to the record by which `find` finds the client. Allocates nothing. */
  match(client: Client, out: SubscriberMatch): void {
    this.find(client);
    const { matchedBounds } = this.naptRanges;
    out.by = this.matchedBy;
    out.lowerPort = matchedBounds >>> 16;
    out.upperPort = matchedBounds & 0xffff;
    out.prefixLength = this.matchedLength;
  }

  /** Whether ports distinguish the subscribers of the client's address. Allocates nothing. */
  needsPort({ family, words }: Client): boolean {
    return family === 4 && this.naptRanges.needsPort(words[0] | 0);
  }

  private findNetwork(
    long: PrefixLookup,
    short: PrefixLookup | ShortPrefixLookup,
    words: Uint32Array,
  ): number {
    let slot = long.find(words);
    this.matchedLength = long.matchedLength;
    if (slot >= 0) return slot;
    slot = short.find(words);
    this.matchedLength = short.matchedLength;
    return slot;
  }
}
