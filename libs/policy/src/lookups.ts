import type { PolicySpaces } from './policy-spaces.js';
import { ProfileLookup } from './profiles/profile-lookup.js';
import { DomainRuleLookup } from './rules/domain-rules.js';
import { OrderLookup } from './rules/orders.js';
import { TimedRuleLookup } from './rules/timed-rule-lookup.js';
import { ScheduleLookup } from './schedules/schedule-lookup.js';
import type { ZoneClock } from './schedules/zone-clock.js';
import { SubscriberLookup } from './subscribers/subscriber-lookup.js';

/** What reads each structure of a policy, in any thread. */
export class Lookups {
  readonly profiles: ProfileLookup;
  readonly domainRules: DomainRuleLookup;
  readonly subscribers: SubscriberLookup;
  readonly schedules: ScheduleLookup;
  readonly orders: OrderLookup;
  readonly grants: TimedRuleLookup;

  constructor(spaces: PolicySpaces, clock: ZoneClock) {
    this.profiles = new ProfileLookup(spaces.profiles, spaces.profileLists);
    this.domainRules = new DomainRuleLookup(spaces.domainRules, this.profiles.records);
    this.subscribers = new SubscriberLookup(spaces);
    this.schedules = new ScheduleLookup(spaces, clock);
    this.orders = new OrderLookup(spaces);
    this.grants = new TimedRuleLookup({ tables: spaces.grantTables, records: spaces.grants });
  }
}
