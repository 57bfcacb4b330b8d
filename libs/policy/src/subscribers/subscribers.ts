import type { Client } from '../client.js';
import { NaptRanges } from './napt-ranges.js';
import { PrefixTree } from './prefix-tree.js';

/** Who is asking: values by NAPT range and by network. A value is a profile slot. */
export class Subscribers {
  readonly naptRanges = new NaptRanges();
  readonly ipv4Networks = new PrefixTree(1);
  readonly ipv6Networks = new PrefixTree(4);

  /** The narrowest NAPT range that holds the port, else the longest network (decisions §7); −1: neither. Allocates nothing. */
  find({ family, words, port }: Client): number {
    if (family === 6) return this.ipv6Networks.find(words);
    // Signed: an argument beyond 31 bits would be boxed.
    const slot = this.naptRanges.find(words[0] | 0, port);
    return slot >= 0 ? slot : this.ipv4Networks.find(words);
  }

  /** What `find` finds the client by, in words. */
  describe(client: Client): string {
    if (this.find(client) < 0) return 'no NAPT range and no network';
    if (client.family === 6) return `IPv6 network /${this.ipv6Networks.matchedLength}`;
    if (this.naptRanges.find(client.words[0], client.port) >= 0) {
      const { matchedLowerPort, matchedUpperPort } = this.naptRanges;
      return `NAPT range ${matchedLowerPort}–${matchedUpperPort}`;
    }
    return `IPv4 network /${this.ipv4Networks.matchedLength}`;
  }
}
