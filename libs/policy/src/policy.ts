import {
  type BlockPage,
  type Change,
  type DeleteOperation,
  Digest,
  ENTITY_KINDS,
  type EntityKind,
  fromRow,
  type PutOperation,
  toRow,
} from '@weir/config-model';
import type { SuffixHashes } from '@weir/dns-name';
import type { CatalogueIndex } from './catalogue-index.js';
import { checkOperation } from './check-operation.js';
import type { Client } from './client.js';
import { Decision, NO_TTL_CAP, Reason, Verdict } from './decision.js';
import { type EntityStore, EntityStores } from './entity-stores.js';
import { explain, type Explanation } from './explain.js';
import { RuleEvaluator } from './rule-evaluator.js';
import { PolicyError } from './policy-error.js';
import { loadDomainRules } from './rules/load-domain-rules.js';
import { ZoneClock } from './schedules/zone-clock.js';
import type { SubscriberMatch } from './subscribers/subscriber-match.js';

export interface PolicyOptions {
  /** IANA name of the zone in which schedules are written (decisions §5). */
  readonly timeZone: string;
}

/** Bytes by structure. */
export type PolicyMemory = Readonly<
  Record<'profiles' | 'domainRules' | 'ipv4Networks' | 'ipv6Networks' | 'naptRanges', number>
>;

/**
 * The configuration in the form that answers queries: who is asking, which profile is active, what it says of a name
 * (decisions §5, §7, §8). Changed in place, one revision a step; a query between two steps sees all of one or nothing of it.
 *
 * `identify`, `judge` and `decide` allocate nothing and never throw.
 */
export class Policy {
  private readonly stores = new EntityStores();
  private readonly evaluator = new RuleEvaluator(this.stores.profiles, this.stores.domainRules);
  private readonly clock: ZoneClock;
  private readonly sum = new Digest();
  private appliedRevision = 0;

  /** @throws PolicyError when there is no such time zone. */
  constructor({ timeZone }: PolicyOptions) {
    try {
      this.clock = new ZoneClock(timeZone);
    } catch (cause) {
      throw new PolicyError('the time zone of schedules is unknown', { cause });
    }
  }

  get revision(): number {
    return this.appliedRevision;
  }

  /** Ends a load: what was put is the configuration at this revision. */
  setRevision(revision: number): void {
    this.appliedRevision = revision;
  }

  /** Of everything put and not deleted (see config-model `Digest`). */
  digest(): string {
    return this.sum.toString();
  }

  counts(): Record<EntityKind, number> {
    const entries = ENTITY_KINDS.map((kind) => [kind, this.stores[kind].size]);
    return Object.fromEntries(entries) as Record<EntityKind, number>;
  }

  /**
   * Bytes of typed arrays that each structure holds, what is kept free for growth included. Schedules (about 400 bytes each) and block pages
   * (about 100) are ordinary objects and not counted; a catalogue image is its owner's.
   */
  memory(): PolicyMemory {
    const { profiles, domainRules, subscribers } = this.stores;
    return {
      profiles: profiles.bytes,
      domainRules: domainRules.bytes,
      ipv4Networks: subscribers.ipv4Networks.bytes,
      ipv6Networks: subscribers.ipv6Networks.bytes,
      naptRanges: subscribers.naptRanges.bytes,
    };
  }

  /**
   * Applies all operations of a change and takes its revision. Whether the digest then is the change's is for the caller to
   * compare: deleting what is not there, for one, changes nothing and shows only there.
   * @throws PolicyError when an operation cannot be applied (`reload`, malformed entities): then none is.
   */
  apply(change: Change): void {
    change.operations.forEach(checkOperation);
    for (const operation of change.operations) {
      if (operation.type === 'put') this.store(operation);
      else if (operation.type === 'delete') this.remove(operation);
    }
    this.appliedRevision = change.revision;
  }

  /** For loading a snapshot: puts one entity without a revision of its own. @throws PolicyError when it is malformed. */
  put(operation: PutOperation): void {
    checkOperation(operation);
    this.store(operation);
  }

  /**
   * For loading a snapshot: puts rows of one kind, fastest in a snapshot's order. What was put before a row that is refused stays.
   * @throws RowError when one is not a row of that kind. @throws PolicyError as `put`.
   */
  load(kind: EntityKind, rows: Iterable<unknown>): void {
    if (kind === 'domainRule') {
      const { domainRules, profiles } = this.stores;
      loadDomainRules(rows, domainRules, profiles, this.sum);
      return;
    }
    for (const row of rows) {
      this.put({ type: 'put', kind, entity: fromRow(kind, row) } as PutOperation);
    }
  }

  /** The index that names are looked up in from now on; null: nothing belongs to any category or application. */
  setCatalogue(index: CatalogueIndex | null): void {
    this.evaluator.catalogue = index;
  }

  /** The catalogue that `setCatalogue` was last given. */
  get catalogue(): CatalogueIndex | null {
    return this.evaluator.catalogue;
  }

  /** The block page with this id (`Decision.pageId`); undefined: there is none. */
  blockPage(id: number): BlockPage | undefined {
    return this.stores.findBlockPage(id);
  }

  /** Finds the client's profile and the one that decides now. Leaves what `judge` sets as it is. */
  identify(client: Client, nowMs: number, out: Decision): void {
    this.clock.nowMs = nowMs;
    this.identifySlot(this.stores.subscribers.find(client), out);
  }

  /** Finds the record that names the client's subscriber: for telling subscribers apart. Allocates nothing, never throws. */
  match(client: Client, out: SubscriberMatch): void {
    this.stores.subscribers.match(client, out);
  }

  /** Judges a name, the queried one or a CNAME target, by the active profile that `identify` of this policy found. */
  judge(names: SuffixHashes, out: Decision): void {
    if (out.activeSlot >= 0 && this.stores.profiles.exists(out.activeSlot)) {
      this.evaluator.judge(out.activeSlot, names, out);
      return;
    }
    out.verdict = Verdict.unfiltered;
    out.reason = Reason.noProfile;
    out.explicitAllow = false;
    out.matchedLabels = 0;
    out.matchedId = -1;
  }

  /** `identify`, then `judge`. */
  decide(client: Client, names: SuffixHashes, nowMs: number, out: Decision): Verdict {
    this.identify(client, nowMs, out);
    this.judge(names, out);
    return out.verdict;
  }

  /** Decides, and says how it came to it. For people: allocates. */
  explain(client: Client, names: SuffixHashes, nowMs: number): Explanation {
    const decision = new Decision();
    this.decide(client, names, nowMs, decision);
    return { decision, lines: explain(this.stores, this.evaluator, client, decision) };
  }

  private identifySlot(slot: number, out: Decision): void {
    const { profiles } = this.stores;
    out.ttlCapSeconds = NO_TTL_CAP;
    if (slot < 0 || !profiles.exists(slot)) {
      clear(out);
      return;
    }
    const activeSlot = profiles.isScheduled(slot) ? this.activeSlot(slot, out) : slot;
    out.profileId = profiles.id(slot);
    out.activeSlot = activeSlot;
    out.activeProfileId = profiles.id(activeSlot);
    out.pageId = profiles.pageId(activeSlot);
    out.emptyDnsAnswer = profiles.isEmptyDnsAnswer(activeSlot);
  }

  /** The schedule's target during its periods, if there is such a profile. Caps the TTL. */
  private activeSlot(slot: number, out: Decision): number {
    const { profiles, schedules } = this.stores;
    const schedule = schedules.get(slot);
    if (schedule === undefined) return slot;
    schedule.seek(this.clock);
    const seconds = Math.floor((schedule.untilMs - this.clock.nowMs) / 1000);
    out.ttlCapSeconds = Math.max(1, Math.min(NO_TTL_CAP, seconds));
    return schedule.isInside && profiles.exists(schedule.targetSlot) ? schedule.targetSlot : slot;
  }

  private store(operation: PutOperation): void {
    const { kind, entity } = operation;
    // The operation's type ties entity to kind; that a store of the kind takes it is beyond the compiler.
    const previous = (this.stores[kind] as EntityStore<EntityKind>).put(entity);
    if (previous !== null) this.sum.remove(kind, previous);
    this.sum.add(kind, toRow(kind, entity));
  }

  private remove({ kind, key }: DeleteOperation): void {
    const previous = (this.stores[kind] as EntityStore<EntityKind>).delete(key);
    if (previous !== null) this.sum.remove(kind, previous);
  }
}

function clear(out: Decision): void {
  out.profileId = -1;
  out.activeProfileId = -1;
  out.activeSlot = -1;
  out.pageId = -1;
  out.emptyDnsAnswer = false;
}
