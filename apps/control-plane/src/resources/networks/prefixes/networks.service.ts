import { conflict, notFound } from '../../../http/errors/errors.js';
import { type FaultLocation, throwIfFaults } from '../../../http/validation/fault.js';
import type { ConfigurationReader } from '../../../revisions/configuration-reader.js';
import type { ConfigurationWriter, Transaction } from '../../../revisions/configuration-writer.js';
import type { EntityChange } from '../../../revisions/entity-change.js';
import type { Listing } from '../../../revisions/listing.js';
import type { WithRevision } from '../../../revisions/with-revision.js';
import { profileFaults } from '../../profiles/profile-store.js';
import type { AddressFamily } from '../addresses/address-family.js';
import {
  fromRow,
  listing,
  masked,
  type NetworkRecord,
  type NetworkRow,
  NetworkStore,
} from './network-store.js';

/** The networks of one address family. */
export class NetworksService<A> {
  private readonly store: NetworkStore<A>;

  constructor(
    private readonly family: AddressFamily<A>,
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
  ) {
    this.store = new NetworkStore(family);
  }

  list<T>(convert: (record: NetworkRecord<A>) => T): Promise<WithRevision<Listing<T>>> {
    return this.reader.list(listing(this.family), (row: NetworkRow) =>
      convert(fromRow(this.family, row)),
    );
  }

  get(address: A): Promise<WithRevision<NetworkRecord<A>>> {
    return this.reader.read((tx) => this.requireNetwork(tx, address));
  }

  /** @param profileLocation where the request names the profile, for the fault of an unknown one. */
  create(
    record: NetworkRecord<A>,
    profileLocation: FaultLocation,
  ): Promise<WithRevision<NetworkRecord<A>>> {
    return this.writer.write(async (tx) => {
      throwIfFaults(await profileFaults(tx, record.profileId, profileLocation));
      await this.checkUnique(tx, record, null);
      await this.store.insert(tx, record);
      return { result: record, changes: [this.change(null, record)] };
    });
  }

  /** Changes a network. A different address changes its key. */
  update(
    address: A,
    patch: Partial<NetworkRecord<A>>,
    profileLocation: FaultLocation,
  ): Promise<WithRevision<NetworkRecord<A>>> {
    return this.writer.write(async (tx) => {
      const before = await this.requireNetwork(tx, address);
      const record = { ...before, ...patch };
      throwIfFaults(await profileFaults(tx, record.profileId, profileLocation));
      await this.checkUnique(tx, record, before);
      await this.store.update(tx, address, record);
      return { result: record, changes: [this.change(before, record)] };
    });
  }

  remove(address: A): Promise<WithRevision<void>> {
    return this.writer.write(async (tx) => {
      const before = await this.requireNetwork(tx, address);
      await this.store.delete(tx, address);
      return { result: undefined, changes: [this.change(before, null)] };
    });
  }

  private async requireNetwork(tx: Transaction, address: A): Promise<NetworkRecord<A>> {
    const record = await this.store.find(tx, address);
    if (record === null) throw notFound(`network ${this.family.format(address)}`);
    return record;
  }

  /**
   * @param own the stored record that is changed; null for a new one.
   * @throws RequestError 409 when another record has the same address or the same masked prefix.
   */
  private async checkUnique(
    tx: Transaction,
    record: NetworkRecord<A>,
    own: NetworkRecord<A> | null,
  ): Promise<void> {
    const isOwn = (other: NetworkRecord<A>): boolean =>
      own !== null && this.family.format(other.address) === this.family.format(own.address);
    const sameAddress = await this.store.find(tx, record.address);
    if (sameAddress && !isOwn(sameAddress)) {
      throw conflict(
        `network ${this.text(sameAddress)} already has this address; the address is the key, so nested ` +
          `networks need different addresses, such as ${this.family.nestingExample}`,
      );
    }
    const samePrefix = await this.store.findSamePrefix(tx, record);
    if (samePrefix && !isOwn(samePrefix)) {
      throw conflict(`network ${this.text(samePrefix)} covers exactly the same addresses`);
    }
  }

  private change(before: NetworkRecord<A> | null, after: NetworkRecord<A> | null): EntityChange {
    const entity = (record: NetworkRecord<A> | null): unknown =>
      record && masked(this.family, record);
    return { kind: this.family.kind, before: entity(before), after: entity(after) } as EntityChange;
  }

  private text({ address, prefixLength }: NetworkRecord<A>): string {
    return `${this.family.format(address)}/${prefixLength}`;
  }
}
