import { Body, Controller, Inject, Injectable, Param, type Type } from '@nestjs/common';
import type { Ipv6Words } from '@weir/config-model';
import { conflict, notFound } from '../../../http/errors/errors.js';
import { ApiEndpoint } from '../../../http/routing/endpoint.js';
import type { DtoClass, Json } from '../../../http/validation/dto.js';
import { throwIfFaults } from '../../../http/validation/fault.js';
import type { EntityChange } from '../../../revisions/change-record.js';
import { ConfigurationReader } from '../../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../../revisions/configuration-writer.js';
import type { Listing, WithRevision } from '../../../revisions/with-revision.js';
import type { OpenTable } from '../../../revisions/working-tables.js';
import { WorkingProfiles } from '../../profiles/profile-store.js';
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
import {
  IPV4_DTO,
  Ipv4NetworkDto,
  Ipv4NetworkPath,
  IPV6_DTO,
  Ipv6NetworkDto,
  Ipv6NetworkPath,
  type NetworkConversions,
  type NetworkDto,
  PatchIpv4NetworkDto,
  PatchIpv6NetworkDto,
} from './network.dto.js';

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

/** The differences between the endpoints of IPv4 and IPv6 networks. */
interface Differences<A, Path extends object> extends NetworkConversions<A> {
  readonly family: string;
  readonly list: `/${string}`;
  /** The path of one network. */
  readonly one: `/${string}`;
  readonly Path: DtoClass<Path>;
  readonly addressOf: (path: Path) => A;
  readonly Whole: DtoClass<NetworkDto>;
  readonly Patch: DtoClass<Partial<NetworkDto>>;
  readonly Service: Type<NetworksService<A>>;
}

function networksController<A, Path extends object>(differences: Differences<A, Path>) {
  const { family, list, one, Path, addressOf, Whole, Patch } = differences;
  const { Service, toRecord, toPatch, toDto } = differences;
  class NetworksController {
    constructor(@Inject(Service) readonly networks: NetworksService<A>) {}

    @ApiEndpoint(`GET ${list}`, {
      isListing: true,
      summary: `All ${family} networks, by address`,
      answer: [Whole],
    })
    list(): Promise<WithRevision<Listing<Json<NetworkDto>>>> {
      return this.networks.list(toDto);
    }

    @ApiEndpoint(`POST ${list}`, {
      body: Whole,
      summary: `Attaches an ${family} network to a profile`,
      answer: Whole,
      errors: [409],
    })
    async create(@Body() body: NetworkDto): Promise<WithRevision<Json<NetworkDto>>> {
      return (await this.networks.create(toRecord(body))).map(toDto);
    }

    @ApiEndpoint(`GET ${one}`, {
      path: Path,
      summary: `One ${family} network`,
      answer: Whole,
      errors: [404],
    })
    async get(@Param() path: Path): Promise<WithRevision<Json<NetworkDto>>> {
      return (await this.networks.get(addressOf(path))).map(toDto);
    }

    @ApiEndpoint(`PATCH ${one}`, {
      path: Path,
      body: Patch,
      summary: `Changes an ${family} network; a different address changes its key`,
      answer: Whole,
      errors: [404, 409],
    })
    async update(
      @Param() path: Path,
      @Body() body: Partial<NetworkDto>,
    ): Promise<WithRevision<Json<NetworkDto>>> {
      return (await this.networks.update(addressOf(path), toPatch(body))).map(toDto);
    }

    @ApiEndpoint(`DELETE ${one}`, {
      path: Path,
      summary: `Deletes an ${family} network`,
      errors: [404],
    })
    remove(@Param() path: Path): Promise<WithRevision<void>> {
      return this.networks.remove(addressOf(path));
    }
  }
  return NetworksController;
}

@Controller()
export class Ipv4NetworksController extends networksController<number, Ipv4NetworkPath>({
  ...IPV4_DTO,
  family: 'IPv4',
  list: '/net/',
  one: '/net/:int_ip',
  Path: Ipv4NetworkPath,
  addressOf: (path) => path.int_ip,
  Whole: Ipv4NetworkDto,
  Patch: PatchIpv4NetworkDto,
  Service: Ipv4NetworksService,
}) {}

@Controller()
export class Ipv6NetworksController extends networksController<Ipv6Words, Ipv6NetworkPath>({
  ...IPV6_DTO,
  family: 'IPv6',
  list: '/net6/',
  one: '/net6/:ipv6',
  Path: Ipv6NetworkPath,
  addressOf: (path) => IPV6_DTO.toAddress(path.ipv6),
  Whole: Ipv6NetworkDto,
  Patch: PatchIpv6NetworkDto,
  Service: Ipv6NetworksService,
}) {}
