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
  /** IANA name of the time zone of schedules (decisions §5). */
  readonly timeZone: string;
}

/** Bytes of each structure. */
export type PolicyMemory = Readonly<
  Record<'profiles' | 'domainRules' | 'ipv4Networks' | 'ipv6Networks' | 'naptRanges', number>
>;

/**
 * The configuration in the form that answers queries: the subscriber of a client, the active profile, its verdict on
 * a name (decisions §5, §7, §8). Changes are applied in place, one revision at a time. A query sees a revision whole
 * or not at all.
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

  /** Ends a load: the entities that were put are the configuration at this revision. */
  setRevision(revision: number): void {
    this.appliedRevision = revision;
  }

  /** The digest of all entities (see `Digest` of `@weir/config-model`). */
  digest(): string {
    return this.sum.toString();
  }

  counts(): Record<EntityKind, number> {
    const entries = ENTITY_KINDS.map((kind) => [kind, this.stores[kind].size]);
    return Object.fromEntries(entries) as Record<EntityKind, number>;
  }

  /**
   * Bytes of typed arrays that each structure holds, with free space. Not counted: schedules (about 400 bytes each) and
   * block pages (about 100), which are ordinary objects, and the catalogue image, which its owner counts.
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
   * Applies all operations of a change and sets the revision. The caller must compare the digest with that of the
   * change: for example, the deletion of an entity that does not exist has no other effect than a different digest.
   * @throws PolicyError when an operation cannot be applied (`reload`, malformed entities). Then none is applied.
   */
  apply(change: Change): void {
    change.operations.forEach(checkOperation);
    for (const operation of change.operations) {
      if (operation.type === 'put') this.store(operation);
      else if (operation.type === 'delete') this.remove(operation);
    }
    this.appliedRevision = change.revision;
  }

  /**
   * For loading a snapshot: puts one entity and leaves the revision as it is.
   * @throws PolicyError when it is malformed.
   */
  put(operation: PutOperation): void {
    checkOperation(operation);
    this.store(operation);
  }

  /**
   * For loading a snapshot: puts rows of one kind, fastest in the order of a snapshot. Rows before a refused one stay.
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

  /** Sets the index in which names are looked up; null: no name is in any category or application. */
  setCatalogue(index: CatalogueIndex | null): void {
    this.evaluator.catalogue = index;
  }

  /** The index that `setCatalogue` was last called with. */
  get catalogue(): CatalogueIndex | null {
    return this.evaluator.catalogue;
  }

  /** The block page with this id (`Decision.pageId`); undefined: there is none. */
  blockPage(id: number): BlockPage | undefined {
    return this.stores.findBlockPage(id);
  }

  /** Finds the profile of the client and the active one. Leaves the fields that `judge` sets as they are. */
  identify(client: Client, nowMs: number, out: Decision): void {
    this.clock.nowMs = nowMs;
    this.identifySlot(this.stores.subscribers.find(client), out);
  }

  /** Finds the network or NAPT range that identifies the subscriber of a client. Allocates nothing, never throws. */
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
    out.rewrite = null;
  }

  /** `identify`, then `judge`. */
  decide(client: Client, names: SuffixHashes, nowMs: number, out: Decision): Verdict {
    this.identify(client, nowMs, out);
    this.judge(names, out);
    return out.verdict;
  }

  /** Decides, and explains the decision for people. Allocates. */
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

  /** The target of the schedule during its periods, if that profile exists; else `slot`. Caps the TTL. */
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
    // The type of the operation ties entity to kind. The compiler cannot see that the store of the kind takes it.
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
