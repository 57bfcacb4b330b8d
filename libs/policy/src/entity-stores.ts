import {
  type ActiveCatalogue,
  type BlockPage,
  type Entities,
  type EntityKeys,
  type EntityKind,
  type Row,
  toKeyRow,
  toRow,
} from '@weir/config-model';
import type { PolicySpaces } from './policy-spaces.js';
import { Space } from './memory/space.js';
import { WordMap } from './memory/word-map.js';
import { Profiles } from './profiles/profiles.js';
import { DomainRules } from './rules/domain-rules.js';
import { Orders } from './rules/orders.js';
import { TimedRules } from './rules/timed-rules.js';
import { Schedules, type SlotRow } from './schedules/schedules.js';
import { Subscribers } from './subscribers/subscribers.js';

/** The entities of one kind. Both return the row that was there before, for the digest; null: there was none. */
export interface EntityStore<K extends EntityKind> {
  put(entity: Entities[K]): Row | null;
  delete(key: EntityKeys[K]): Row | null;
}

type NetworkKind = 'ipv4Network' | 'ipv6Network';
type NetworkStore = EntityStore<NetworkKind>;

/** The whole configuration, each kind of entity in the structure that answers queries. */
export class EntityStores implements Readonly<{ [K in EntityKind]: EntityStore<K> }> {
  readonly profiles: Profiles;
  readonly domainRules: DomainRules;
  readonly subscribers: Subscribers;
  /** By the slot of the profile that has the schedule. */
  readonly schedules: Schedules;
  readonly orders: Orders;
  /** Owned by the slot of the profile that has the grant. */
  readonly grants: TimedRules;

  private readonly words = new Uint32Array(4);
  /** Id → type. */
  private readonly pages: WordMap;
  private readonly pageSpace: Space;
  private pageCount: number;
  private activeCatalogue: ActiveCatalogue | null;

  /** @param spaces nothing is in them, unless they were forked. @param from the stores of their origin. */
  constructor(spaces: PolicySpaces, from?: EntityStores) {
    const { profiles, profileLists, domainRules } = spaces;
    this.profiles = new Profiles(profiles, profileLists, from?.profiles);
    const { records } = this.profiles.lookup;
    this.domainRules = new DomainRules(records, domainRules, from?.domainRules);
    this.subscribers = new Subscribers(spaces, from?.subscribers);
    this.schedules = new Schedules(spaces, from?.schedules);
    this.orders = new Orders(spaces, from?.orders);
    const grantSpaces = { tables: spaces.grantTables, records: spaces.grants };
    this.grants = new TimedRules(grantSpaces, true, from?.grants);
    this.pageSpace = from?.pageSpace.forkFor(profiles.fork) ?? new Space();
    this.pages = new WordMap(this.pageSpace, from?.pages);
    this.pageCount = from?.pageCount ?? 0;
    this.activeCatalogue = from?.activeCatalogue ?? null;
  }

  sizes(): Record<EntityKind, number> {
    return {
      blockPage: this.pageCount,
      profile: this.profiles.size,
      domainRule: this.domainRules.size,
      ipv4Network: this.subscribers.ipv4Networks.size,
      ipv6Network: this.subscribers.ipv6Networks.size,
      naptAssignment: this.subscribers.naptRanges.size,
      schedule: this.schedules.size,
      catalogue: this.activeCatalogue === null ? 0 : 1,
      order: this.orders.size,
      grant: this.grants.size,
    };
  }

  readonly profile: EntityStore<'profile'> = {
    put: (profile) => this.profiles.set(profile),
    delete: ({ id }) => this.profiles.delete(id),
  };

  readonly domainRule: EntityStore<'domainRule'> = {
    put: ({ profileId, domainHash, verdict }) => {
      const slot = this.profiles.slotOf(profileId);
      const previous = this.domainRules.set(slot, domainHash, verdict);
      return previous === 0 ? null : [profileId, domainHash, previous];
    },
    delete: ({ profileId, domainHash }) => {
      const slot = this.profiles.findSlot(profileId);
      const previous = slot < 0 ? 0 : this.domainRules.delete(slot, domainHash);
      return previous === 0 ? null : [profileId, domainHash, previous];
    },
  };

  readonly ipv4Network: NetworkStore = this.networkStore('ipv4Network', 'ipv4Networks');
  readonly ipv6Network: NetworkStore = this.networkStore('ipv6Network', 'ipv6Networks');

  readonly naptAssignment: EntityStore<'naptAssignment'> = {
    put: (range) => {
      const { address, lowerPort, upperPort, profileId } = range;
      const slot = this.profiles.slotOf(profileId);
      const previous = this.subscribers.naptRanges.set(address, lowerPort, upperPort, slot);
      return this.rowOf('naptAssignment', range, previous);
    },
    delete: (range) => {
      const { address, lowerPort, upperPort } = range;
      const previous = this.subscribers.naptRanges.delete(address, lowerPort, upperPort);
      return this.rowOf('naptAssignment', range, previous);
    },
  };

  readonly schedule: EntityStore<'schedule'> = {
    put: (schedule) => {
      const slot = this.profiles.slotOf(schedule.profileId);
      const targetSlot = this.profiles.slotOf(schedule.targetProfileId);
      this.profiles.setScheduled(slot, true);
      return this.scheduleRow(this.schedules.set(slot, schedule, targetSlot));
    },
    delete: ({ profileId }) => {
      const slot = this.profiles.findSlot(profileId);
      const previous = slot < 0 ? null : this.schedules.delete(slot);
      if (previous !== null) this.profiles.setScheduled(slot, false);
      return this.scheduleRow(previous);
    },
  };

  readonly blockPage: EntityStore<'blockPage'> = {
    put: ({ id, type }) => {
      const previous = this.pages.set(id, type);
      if (previous < 0) this.pageCount++;
      return previous < 0 ? null : [id, previous];
    },
    delete: ({ id }) => {
      const previous = this.pages.delete(id);
      if (previous >= 0) this.pageCount--;
      return previous < 0 ? null : [id, previous];
    },
  };

  findBlockPage(id: number): BlockPage | undefined {
    const type = this.pages.find(id);
    return type < 0 ? undefined : { id, type };
  }

  readonly catalogue: EntityStore<'catalogue'> = {
    put: (catalogue) => this.replaceCatalogue(catalogue),
    delete: () => this.replaceCatalogue(null),
  };

  readonly order: EntityStore<'order'> = {
    put: (order) => this.orders.set(order),
    delete: ({ id }) => this.orders.delete(id),
  };

  readonly grant: EntityStore<'grant'> = {
    put: (grant) => {
      const previous = this.removeGrant(grant);
      const { domainHash, verdict, until } = grant;
      const owner = this.profiles.slotOf(grant.profileId);
      this.grants.add({ owner, domainHash, verdict, until });
      this.profiles.setGranted(owner);
      return previous;
    },
    delete: (key) => this.removeGrant(key),
  };

  private removeGrant({ profileId, domainHash }: EntityKeys['grant']): Row | null {
    const slot = this.profiles.findSlot(profileId);
    const rule = slot < 0 ? -1 : this.grants.find(slot, domainHash);
    if (rule < 0) return null;
    const { verdict, until } = this.grants.read(rule);
    this.grants.remove(rule);
    return [profileId, domainHash, verdict, until];
  }

  private replaceCatalogue(next: ActiveCatalogue | null): Row | null {
    const previous = this.activeCatalogue;
    this.activeCatalogue = next;
    return previous === null ? null : toRow('catalogue', previous);
  }

  private networkStore(kind: NetworkKind, networks: `${NetworkKind}s`): NetworkStore {
    const setWords = ({ address }: EntityKeys[NetworkKind]): void => {
      if (typeof address === 'number') this.words[0] = address;
      else this.words.set(address);
    };
    return {
      put: (network) => {
        const slot = this.profiles.slotOf(network.profileId);
        setWords(network);
        const previous = this.subscribers[networks].set(this.words, network.prefixLength, slot);
        return this.rowOf(kind, network, previous);
      },
      delete: (key) => {
        setWords(key);
        const previous = this.subscribers[networks].delete(this.words, key.prefixLength);
        return this.rowOf(kind, key, previous);
      },
    };
  }

  /** The row of a key and the profile of that slot; −1: there was none. */
  private rowOf<K extends NetworkKind | 'naptAssignment'>(
    kind: K,
    key: EntityKeys[K],
    previousSlot: number,
  ): Row | null {
    if (previousSlot < 0) return null;
    return [...toKeyRow(kind, key), this.profiles.lookup.id(previousSlot)];
  }

  private scheduleRow(row: SlotRow | null): Row | null {
    if (row === null) return null;
    row[0] = this.profiles.lookup.id(row[0]);
    row[1] = this.profiles.lookup.id(row[1]);
    return row;
  }
}
