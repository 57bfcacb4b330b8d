import {
  type BlockPage,
  type Change,
  type DeleteOperation,
  Digest,
  EMPTY_DIGEST,
  ENTITY_KINDS,
  type EntityKind,
  FlatRows,
  type Operation,
  type PutOperation,
  toRow,
} from '@weir/config-model';
import type { SuffixHashes } from '@weir/dns-name';
import type { CatalogueIndex } from './catalogue-index.js';
import { checkOperation } from './check-operation.js';
import type { Client } from './client.js';
import type { Decision, Verdict } from './decision.js';
import { type EntityStore, EntityStores } from './entity-stores.js';
import type { Explanation } from './explanation.js';
import { loadRows } from './load-rows.js';
import { Fork, type SpaceOptions } from './memory/space.js';
import { PolicyHead } from './policy-head.js';
import { type PolicyOptions, PolicyReader } from './policy-reader.js';
import { createSpaces, forkSpaces, giveAwaySpaces, type PolicySpaces } from './policy-spaces.js';
import type { OrderLookup } from './rules/order-lookup.js';
import type { SubscriberMatch } from './subscribers/subscriber-lookup.js';

/** Bytes of each structure. */
export type PolicyMemory = Readonly<
  Record<
    | 'profiles'
    | 'domainRules'
    | 'ipv4Networks'
    | 'ipv6Networks'
    | 'naptRanges'
    | 'schedules'
    | 'orderTables'
    | 'orders'
    | 'grants',
    number
  >
>;

/**
 * The configuration in the form that answers queries: the subscriber of a client, the active profile, its verdict on
 * a name (decisions §5, §7, §8). Changes are applied one revision at a time, large ones to a fork. A query sees a
 * revision whole or not at all.
 *
 * `identify`, `judge` and `decide` allocate nothing and never throw.
 */
export class Policy {
  /** The memory that readers in other threads need. */
  readonly spaces: PolicySpaces;
  readonly timeZone: string;
  private readonly stores: EntityStores;
  private readonly head: PolicyHead;
  private readonly reader: PolicyReader;
  private readonly sum: Digest;

  /**
   * @param from the policy of which the new one is a fork, for `fork` only.
   * @throws PolicyError when there is no such time zone.
   */
  constructor(options: PolicyOptions & SpaceOptions, from?: Policy) {
    this.timeZone = options.timeZone;
    this.spaces = from === undefined ? createSpaces(options) : forkSpaces(from.spaces, new Fork());
    this.stores = new EntityStores(this.spaces, from?.stores);
    this.head = new PolicyHead(this.spaces.head);
    this.reader = new PolicyReader(this.spaces, options);
    this.reader.catalogue = from?.catalogue ?? null;
    this.sum = Digest.parse(from?.digest() ?? EMPTY_DIGEST);
  }

  /**
   * A policy with the same content and catalogue, to which a large change is applied in steps, while this one decides
   * queries. Takes hardly any time or memory: a chunk of memory is copied when one of the two first writes it.
   *
   * When one of the two is no longer used, call `endFork` of the other one. A policy has one fork at a time.
   */
  fork(): Policy {
    if (!this.spaces.head.fork.isOver) throw new Error('a policy has one fork at a time');
    return new Policy({ timeZone: this.timeZone }, this);
  }

  /** Whether one of the two was made from the other, and both are used. */
  isForkOf({ spaces }: Policy): boolean {
    const { fork } = this.spaces.head;
    return !fork.isOver && fork === spaces.head.fork;
  }

  /**
   * This policy is no longer used, in any thread, as `successor` has taken its place: its memory may be used for other
   * policies, but for what a successor that is a fork has in common with it.
   */
  release(successor: Policy): void {
    giveAwaySpaces(this.spaces, successor.spaces);
  }

  /** The other policy of a fork is no longer used, in any thread: its memory is this one's alone. */
  endFork(): void {
    this.spaces.head.fork.isOver = true;
  }

  get revision(): number {
    return this.head.revision;
  }

  /** Ends a load: the entities that were put are the configuration at this revision. */
  setRevision(revision: number): void {
    this.head.revision = revision;
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
   * Bytes that each structure uses, with free space in between. Not counted: the rows of schedules (about 300 bytes
   * each) and block pages (about 100), which are ordinary objects, and the catalogue image, which its owner counts.
   */
  memory(): PolicyMemory {
    const { profiles, domainRules, subscribers, schedules, orders, grants } = this.stores;
    return {
      profiles: profiles.bytes,
      domainRules: domainRules.bytes,
      ipv4Networks: subscribers.ipv4Networks.bytes,
      ipv6Networks: subscribers.ipv6Networks.bytes,
      naptRanges: subscribers.naptRanges.bytes,
      schedules: schedules.bytes,
      orderTables: orders.tableBytes,
      orders: orders.bytes,
      grants: grants.tableBytes + grants.recordBytes,
    };
  }

  /**
   * Applies all operations of a change and sets the revision. The caller must compare the digest with that of the
   * change: for example, the deletion of an entity that does not exist has no other effect than a different digest.
   * @throws PolicyError when an operation cannot be applied (`reload`, malformed entities). Then none is applied.
   */
  apply(change: Change): void {
    change.operations.forEach(checkOperation);
    for (const operation of change.operations) this.applyChecked(operation);
    this.head.revision = change.revision;
  }

  /**
   * The same in steps, one for each operation, for a policy that is not in force: between two steps it has half of
   * the change.
   * @throws PolicyError as `apply`; then the fork is of no use.
   */
  *applyInSteps(change: Change): Generator<undefined, void> {
    for (const operation of change.operations) {
      checkOperation(operation);
      this.applyChecked(operation);
      yield;
    }
    this.head.revision = change.revision;
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
   * For loading a snapshot: puts rows of one kind, fastest in the order of a snapshot.
   * @throws RowError when one is not a row of that kind. @throws PolicyError as `put`. Then the policy is of no use.
   */
  load(kind: EntityKind, rows: FlatRows | readonly unknown[]): void {
    const flat = rows instanceof FlatRows ? rows : FlatRows.of(rows);
    loadRows(kind, flat, this.stores, this.sum);
  }

  /** Sets the index in which names are looked up; null: no name is in any category or application. */
  setCatalogue(index: CatalogueIndex | null): void {
    this.reader.catalogue = index;
  }

  /** The index that `setCatalogue` was last called with. */
  get catalogue(): CatalogueIndex | null {
    return this.reader.catalogue;
  }

  /** The block page with this id (`Decision.pageId`); undefined: there is none. */
  blockPage(id: number): BlockPage | undefined {
    return this.stores.findBlockPage(id);
  }

  /** Finds the profile of the client and the active one. Leaves the fields that `judge` sets as they are. */
  identify(client: Client, nowMs: number, out: Decision): void {
    this.reader.identify(client, nowMs, out);
  }

  /** Finds the network or NAPT range that identifies the subscriber of a client. Allocates nothing, never throws. */
  match(client: Client, out: SubscriberMatch): void {
    this.reader.match(client, out);
  }

  /** Judges a name, the queried one or a CNAME target, by the active profile that `identify` of this policy found. */
  judge(names: SuffixHashes, out: Decision): void {
    this.reader.judge(names, out);
  }

  /** The same by orders and mandatory categories alone: what they do not block is `unfiltered`. */
  judgeOrders(names: SuffixHashes, out: Decision): void {
    this.reader.judgeOrders(names, out);
  }

  /** Whether `judgeOrders` may block anything. */
  get hasOrders(): boolean {
    return this.reader.hasOrders;
  }

  /** The texts of orders, by `Decision.orderNumber`. */
  get orders(): OrderLookup {
    return this.reader.orders;
  }

  /** `identify`, then `judge`. */
  decide(client: Client, names: SuffixHashes, nowMs: number, out: Decision): Verdict {
    return this.reader.decide(client, names, nowMs, out);
  }

  /** Decides, and tells what the decision was made of. Allocates. */
  explain(client: Client, names: SuffixHashes, nowMs: number): Explanation {
    return this.reader.explain(client, names, nowMs);
  }

  private applyChecked(operation: Operation): void {
    if (operation.type === 'put') this.store(operation);
    else if (operation.type === 'delete') this.remove(operation);
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
