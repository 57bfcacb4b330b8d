import { Injectable } from '@nestjs/common';
import type { Ipv6Words } from '@weir/config-model';
import { conflict, notFound } from '../../../http/errors/errors.js';
import { throwIfFaults } from '../../../http/validation/fault.js';
import { ConfigurationReader } from '../../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../../revisions/configuration-writer.js';
import type { EntityChange } from '../../../revisions/entity-change.js';
import type { Listing } from '../../../revisions/listing.js';
import type { WithRevision } from '../../../revisions/with-revision.js';
import type { OpenTable } from '../../../revisions/working-tables.js';
import { WorkingProfiles } from '../../profiles/working-profiles.js';
import { type AddressFamily, IPV4, IPV6 } from '../addresses/addresses.js';
import {
  fromRow,
  listing,
  masked,
  type NetworkRecord,
  type NetworkRow,
  NetworkStore,
  WorkingNetworks,
} from './network-store.js';

/** Where a body names the profile. */
const PROFILE_LOCATION = ['body', 'profile_id'];

/** The networks of one address family. */
export class NetworksService<A> {
  private readonly store: NetworkStore<A>;
  private readonly open: OpenTable<WorkingNetworks<A>>;

  constructor(
    private readonly family: AddressFamily<A>,
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
  ) {
    const store = new NetworkStore(family);
    this.store = store;
    this.open = (tables) => {
      tables.of(WorkingProfiles.open);
      return new WorkingNetworks(family, store);
    };
  }

  list<T>(convert: (record: NetworkRecord<A>) => T): Promise<WithRevision<Listing<T>>> {
    return this.reader.list(listing(this.family), (row: NetworkRow) =>
      convert(fromRow(this.family, row)),
    );
  }

  get(address: A): Promise<WithRevision<NetworkRecord<A>>> {
    const query = this.store.queryOf([this.family.format(address)]);
    return this.reader.read(query, ([row]: NetworkRow[]) =>
      this.existing(address, row && fromRow(this.family, row)),
    );
  }

  create(record: NetworkRecord<A>): Promise<WithRevision<NetworkRecord<A>>> {
    return this.writer.write({
      need: (tables) => {
        const networks = tables.of(this.open);
        networks.needAddress(record.address);
        networks.needPrefix(record);
        tables.of(WorkingProfiles.open).needId(record.profileId);
      },
      make: (tables) => {
        const networks = tables.of(this.open);
        throwIfFaults(tables.of(WorkingProfiles.open).faults(record.profileId, PROFILE_LOCATION));
        this.checkUnique(networks, record, null);
        networks.replace(null, record);
        return { result: record, changes: [this.change(null, record)] };
      },
    });
  }

  /** Changes a network. A different address changes its key. */
  update(address: A, patch: Partial<NetworkRecord<A>>): Promise<WithRevision<NetworkRecord<A>>> {
    const { profileId } = patch;
    return this.writer.write({
      need: (tables) => {
        const networks = tables.of(this.open);
        networks.needAddress(address);
        if (patch.address !== undefined) networks.needAddress(patch.address);
        for (const prefix of this.possiblePrefixes(address, patch)) networks.needPrefix(prefix);
        if (profileId !== undefined) tables.of(WorkingProfiles.open).needId(profileId);
      },
      make: (tables) => {
        const networks = tables.of(this.open);
        const before = this.existing(address, networks.find(address));
        const record = { ...before, ...patch };
        if (profileId !== undefined) {
          throwIfFaults(tables.of(WorkingProfiles.open).faults(profileId, PROFILE_LOCATION));
        }
        this.checkUnique(networks, record, before);
        networks.replace(before, record);
        return { result: record, changes: [this.change(before, record)] };
      },
    });
  }

  remove(address: A): Promise<WithRevision<void>> {
    return this.writer.write({
      need: (tables) => tables.of(this.open).needAddress(address),
      make: (tables) => {
        const networks = tables.of(this.open);
        const before = this.existing(address, networks.find(address));
        networks.replace(before, null);
        return { result: undefined, changes: [this.change(before, null)] };
      },
    });
  }

  private existing(address: A, record: NetworkRecord<A> | null | undefined): NetworkRecord<A> {
    if (!record) throw notFound(`network ${this.family.format(address)}`);
    return record;
  }

  /** The prefixes that a network may have after a patch. Without one of its parts it keeps that which is stored. */
  private *possiblePrefixes(
    address: A,
    patch: Partial<NetworkRecord<A>>,
  ): Generator<Pick<NetworkRecord<A>, 'address' | 'prefixLength'>> {
    if (patch.prefixLength !== undefined) {
      yield { address: patch.address ?? address, prefixLength: patch.prefixLength };
    } else if (patch.address !== undefined) {
      const [shortest, longest] = this.family.prefixLengths;
      for (let prefixLength = shortest; prefixLength <= longest; prefixLength++) {
        yield { address: patch.address, prefixLength };
      }
    }
  }

  /**
   * @param own the record that is changed; null for a new one.
   * @throws RequestError 409 when another record has the same address or the same masked prefix.
   */
  private checkUnique(
    networks: WorkingNetworks<A>,
    record: NetworkRecord<A>,
    own: NetworkRecord<A> | null,
  ): void {
    const sameAddress = networks.find(record.address);
    if (sameAddress !== null && sameAddress !== own) {
      throw conflict(
        `network ${this.text(sameAddress)} already has this address; the address is the key, so nested ` +
          `networks need different addresses, such as ${this.family.nestingExample}`,
      );
    }
    const samePrefix = networks.findSamePrefix(record);
    if (samePrefix !== null && samePrefix !== own) {
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

@Injectable()
export class Ipv4NetworksService extends NetworksService<number> {
  constructor(reader: ConfigurationReader, writer: ConfigurationWriter) {
    super(IPV4, reader, writer);
  }
}

@Injectable()
export class Ipv6NetworksService extends NetworksService<Ipv6Words> {
  constructor(reader: ConfigurationReader, writer: ConfigurationWriter) {
    super(IPV6, reader, writer);
  }
}
