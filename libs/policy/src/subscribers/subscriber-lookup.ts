import type { Client } from '../client.js';
import { Ipv4Lookup } from './ipv4-lookup.js';
import { Ipv6Lookup } from './ipv6-lookup.js';
import { NaptLookup } from './napt-lookup.js';
import { MatchedBy, type SubscriberMatch } from './subscriber-match.js';
import type { SubscriberSpaces } from './subscriber-spaces.js';

/** Finds the profile slots of clients in `Subscribers`, in any thread. */
export class SubscriberLookup {
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
    if (family === 6) return this.ipv6Networks.find(words);
    // Signed: an argument beyond 31 bits would be boxed.
    const slot = this.naptRanges.find(words[0] | 0, port);
    return slot >= 0 ? slot : this.ipv4Networks.find(words);
  }

  /** Whether the address has NAPT ranges, but none that has the port. Allocates nothing. */
  isOutsideRanges({ family, words, port }: Client): boolean {
    const address = words[0] | 0;
    return family === 4 && this.naptRanges.has(address) && this.naptRanges.find(address, port) < 0;
  }

  /** Sets `out` to the record by which `find` finds the client. Allocates nothing. */
  match(client: Client, out: SubscriberMatch): void {
    out.by = MatchedBy.nothing;
    if (this.find(client) < 0) {
      if (this.isOutsideRanges(client)) out.by = MatchedBy.outsideRanges;
      return;
    }
    const { naptRanges } = this;
    const isIpv6 = client.family === 6;
    if (!isIpv6 && naptRanges.find(client.words[0] | 0, client.port) >= 0) {
      out.by = MatchedBy.naptRange;
      out.lowerPort = naptRanges.matchedLowerPort;
      out.upperPort = naptRanges.matchedUpperPort;
      return;
    }
    out.by = MatchedBy.network;
    out.prefixLength = (isIpv6 ? this.ipv6Networks : this.ipv4Networks).matchedLength;
  }
}
