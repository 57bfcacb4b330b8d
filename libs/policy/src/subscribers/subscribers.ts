import { Ipv4Networks } from './ipv4-networks.js';
import { Ipv6Networks } from './ipv6-networks.js';
import { NaptRanges } from './napt-ranges.js';
import type { SubscriberSpaces } from './subscriber-spaces.js';

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
