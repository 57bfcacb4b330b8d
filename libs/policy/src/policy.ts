import {
  type BlockPage,
  type Change,
  type DeleteOperation,
  Digest,
  EMPTY_DIGEST,
  type EntityKind,
  FlatRows,
  type PutOperation,
  toRow,
} from '@weir/config-model';
import { checkOperation } from './check-operation.js';
import { type EntityStore, EntityStores } from './entity-stores.js';
import { loadRows } from './load-rows.js';
import { Fork, type SpaceOptions } from './memory/space.js';
import { HEAD_WORDS, type PolicyOptions, PolicyReader, writeRevision } from './policy-reader.js';
import { createSpaces, forkSpaces, giveAwaySpaces, type PolicySpaces } from './policy-spaces.js';

/**
 * The configuration in the form that answers queries, in the thread that changes it. Changes are applied one revision
 * at a time, large ones to a fork. A query sees a revision whole or not at all.
 */
export class Policy extends PolicyReader {
  /** The memory that readers in other threads need. */
  readonly spaces: PolicySpaces;
  readonly timeZone: string;
  private readonly stores: EntityStores;
  private readonly sum: Digest;

  /** @param from for `fork` only: its origin. @throws PolicyError when there is no such time zone. */
  constructor(options: PolicyOptions & SpaceOptions, from?: Policy) {
    const spaces = from === undefined ? createSpaces(options) : forkSpaces(from.spaces, new Fork());
    super(spaces, options);
    this.spaces = spaces;
    this.timeZone = options.timeZone;
    if (from === undefined) spaces.head.add(HEAD_WORDS);
    this.stores = new EntityStores(spaces, from?.stores);
    this.setCatalogue(from?.catalogue ?? null);
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

  /** No thread uses this policy any more: its memory is free, except for what a fork has in common with it. */
  release(successor: Policy): void {
    giveAwaySpaces(this.spaces, successor.spaces);
  }

  /** The other policy of a fork is no longer used, in any thread: its memory is this one's alone. */
  endFork(): void {
    this.spaces.head.fork.isOver = true;
  }

  /** Ends a load: the entities that were put are the configuration at this revision. */
  setRevision(revision: number): void {
    writeRevision(this.spaces.head, revision);
  }

  /** The digest of all entities (see `Digest` of `@weir/config-model`). */
  digest(): string {
    return this.sum.toString();
  }

  counts(): Record<EntityKind, number> {
    return this.stores.sizes();
  }

  /**
   * Bytes that each structure uses, with free space in between. Not counted: the rows of schedules (about 300 bytes
   * each) and block pages (about 100), which are ordinary objects, and the catalogue image, which its owner counts.
   */
  memory(): Readonly<Record<string, number>> {
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
  apply({ operations, revision }: Change): void {
    for (const operation of operations) checkOperation(operation);
    for (const operation of operations)
      this.applyChecked(operation as PutOperation | DeleteOperation);
    this.setRevision(revision);
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
    this.setRevision(change.revision);
  }

  /** Puts one entity of a snapshot, and leaves the revision as it is. @throws PolicyError when it is malformed. */
  put(operation: PutOperation): void {
    checkOperation(operation);
    this.applyChecked(operation);
  }

  /** Puts rows of a snapshot. @throws RowError, PolicyError when one is not valid; then the policy is of no use. */
  load(kind: EntityKind, rows: FlatRows | readonly unknown[]): void {
    const flat = rows instanceof FlatRows ? rows : FlatRows.of(rows);
    loadRows(kind, flat, this.stores, this.sum);
  }

  /** The block page with this id (`Decision.pageId`); undefined: there is none. */
  blockPage(id: number): BlockPage | undefined {
    return this.stores.findBlockPage(id);
  }

  private applyChecked(operation: PutOperation | DeleteOperation): void {
    const { kind } = operation;
    // The type of the operation ties entity to kind. The compiler cannot see that the store of the kind takes it.
    const store = this.stores[kind] as EntityStore<EntityKind>;
    const isPut = operation.type === 'put';
    const previous = isPut ? store.put(operation.entity) : store.delete(operation.key);
    if (previous !== null) this.sum.remove(kind, previous);
    if (isPut) this.sum.add(kind, toRow(kind, operation.entity));
  }
}
