import {
  type ActiveCatalogue,
  type BlockPage,
  type Entities,
  type EntityKeys,
  type EntityKind,
  type Row,
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

/** The entities of one kind. `put` and `delete` return the row that was there before, to be removed from the digest. */
export interface EntityStore<K extends EntityKind> {
  readonly size: number;
  /** @returns the row of the entity that was replaced; null: the entity is new. */
  put(entity: Entities[K]): Row | null;
  /** @returns the row of the entity that was deleted; null: there was none. */
  delete(key: EntityKeys[K]): Row | null;
}

type NetworkKey = EntityKeys['ipv4Network' | 'ipv6Network'];

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

  /**
   * @param spaces nothing has been created in them yet.
   * @param from those of which the spaces were forked.
   */
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

  readonly profile: EntityStore<'profile'> = storeOf(
    () => this.profiles.size,
    (profile) => this.profiles.set(profile),
    ({ id }) => this.profiles.delete(id),
  );

  readonly domainRule: EntityStore<'domainRule'> = storeOf(
    () => this.domainRules.size,
    ({ profileId, domainHash, verdict }) => {
      const slot = this.profiles.slotOf(profileId);
      const previous = this.domainRules.set(slot, domainHash, verdict);
      return previous === 0 ? null : [profileId, domainHash, previous];
    },
    ({ profileId, domainHash }) => {
      const slot = this.profiles.findSlot(profileId);
      const previous = slot < 0 ? 0 : this.domainRules.delete(slot, domainHash);
      return previous === 0 ? null : [profileId, domainHash, previous];
    },
  );

  readonly ipv4Network = this.networkStore<'ipv4Network'>('ipv4Networks', ({ address }) => {
    this.words[0] = address;
  });

  readonly ipv6Network = this.networkStore<'ipv6Network'>('ipv6Networks', ({ address }) => {
    this.words.set(address);
  });

  readonly naptAssignment: EntityStore<'naptAssignment'> = storeOf(
    () => this.subscribers.naptRanges.size,
    (range) => {
      const { address, lowerPort, upperPort } = range;
      const slot = this.profiles.slotOf(range.profileId);
      const previous = this.subscribers.naptRanges.set(address, lowerPort, upperPort, slot);
      return this.naptRow(range, previous);
    },
    (range) => {
      const { address, lowerPort, upperPort } = range;
      const previous = this.subscribers.naptRanges.delete(address, lowerPort, upperPort);
      return this.naptRow(range, previous);
    },
  );

  readonly schedule: EntityStore<'schedule'> = storeOf(
    () => this.schedules.size,
    (schedule) => {
      const slot = this.profiles.slotOf(schedule.profileId);
      const targetSlot = this.profiles.slotOf(schedule.targetProfileId);
      this.profiles.setScheduled(slot, true);
      return this.scheduleRow(this.schedules.set(slot, schedule, targetSlot));
    },
    ({ profileId }) => {
      const slot = this.profiles.findSlot(profileId);
      const previous = slot < 0 ? null : this.schedules.delete(slot);
      if (previous !== null) this.profiles.setScheduled(slot, false);
      return this.scheduleRow(previous);
    },
  );

  readonly blockPage: EntityStore<'blockPage'> = storeOf(
    () => this.pageCount,
    ({ id, type }) => {
      const previous = this.findBlockPage(id);
      this.pages.set(id, type);
      if (previous === undefined) this.pageCount++;
      return previous === undefined ? null : toRow('blockPage', previous);
    },
    ({ id }) => {
      const previous = this.findBlockPage(id);
      if (previous === undefined) return null;
      this.pages.delete(id);
      this.pageCount--;
      return toRow('blockPage', previous);
    },
  );

  findBlockPage(id: number): BlockPage | undefined {
    const type = this.pages.find(id);
    return type < 0 ? undefined : { id, type };
  }

  readonly catalogue: EntityStore<'catalogue'> = storeOf(
    () => (this.activeCatalogue === null ? 0 : 1),
    (catalogue) => this.replaceCatalogue(catalogue),
    () => this.replaceCatalogue(null),
  );

  readonly order: EntityStore<'order'> = storeOf(
    () => this.orders.size,
    (order) => this.orders.set(order),
    ({ id }) => this.orders.delete(id),
  );

  readonly grant: EntityStore<'grant'> = storeOf(
    () => this.grants.size,
    (grant) => {
      const previous = this.removeGrant(grant);
      const { domainHash, verdict, until } = grant;
      const owner = this.profiles.slotOf(grant.profileId);
      this.grants.add({ owner, domainHash, verdict, until });
      this.profiles.setGranted(owner);
      return previous;
    },
    (key) => this.removeGrant(key),
  );

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

  /** @param setWords puts the address into `words`. */
  private networkStore<K extends 'ipv4Network' | 'ipv6Network'>(
    networks: 'ipv4Networks' | 'ipv6Networks',
    setWords: (key: EntityKeys[K]) => void,
  ): EntityStore<K> {
    const rowOf = ({ address, prefixLength }: NetworkKey, previousSlot: number): Row | null => {
      if (previousSlot < 0) return null;
      const words = typeof address === 'number' ? [address] : address;
      return [...words, prefixLength, this.profiles.lookup.id(previousSlot)];
    };
    return storeOf<K>(
      () => this.subscribers[networks].size,
      (network) => {
        const slot = this.profiles.slotOf(network.profileId);
        setWords(network);
        return rowOf(
          network,
          this.subscribers[networks].set(this.words, network.prefixLength, slot),
        );
      },
      (key) => {
        setWords(key);
        return rowOf(key, this.subscribers[networks].delete(this.words, key.prefixLength));
      },
    );
  }

  private naptRow(range: EntityKeys['naptAssignment'], previousSlot: number): Row | null {
    if (previousSlot < 0) return null;
    const { address, lowerPort, upperPort } = range;
    return [address, lowerPort, upperPort, this.profiles.lookup.id(previousSlot)];
  }

  private scheduleRow(row: SlotRow | null): Row | null {
    if (row === null) return null;
    row[0] = this.profiles.lookup.id(row[0]);
    row[1] = this.profiles.lookup.id(row[1]);
    return row;
  }
}

function storeOf<K extends EntityKind>(
  size: () => number,
  put: EntityStore<K>['put'],
  remove: EntityStore<K>['delete'],
): EntityStore<K> {
  return {
    get size() {
      return size();
    },
    put,
    delete: remove,
  };
}
