import { Ipv4Networks } from './ipv4-networks.js';
import { Ipv6Networks } from './ipv6-networks.js';
import { NaptRanges } from './napt-ranges.js';
import type { SubscriberSpaces } from './subscriber-spaces.js';

/** Profile slots of subscribers by NAPT range and by network. */
export class Subscribers {
  readonly naptRanges: NaptRanges;
  readonly ipv4Networks: Ipv4Networks;
  readonly ipv6Networks: Ipv6Networks;

  constructor(spaces: SubscriberSpaces) {
    this.naptRanges = new NaptRanges(spaces.naptAddresses, spaces.naptRanges);
    this.ipv4Networks = new Ipv4Networks(spaces.ipv4Long, spaces.ipv4Short);
    this.ipv6Networks = new Ipv6Networks(spaces.ipv6Short, spaces.ipv6Long);
  }
}
