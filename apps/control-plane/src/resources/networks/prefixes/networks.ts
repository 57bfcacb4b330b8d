import { Body, Controller, Inject, Param } from '@nestjs/common';
import { type Ipv6Words, toKeyRow } from '@weir/config-model';
import { conflict, orNotFound } from '../../../http/errors/errors.js';
import { type Answer, ApiEndpoint, type Listed } from '../../../http/routing/endpoint.js';
import type { DtoClass } from '../../../http/validation/dto.js';
import { throwIfFaults } from '../../../http/validation/fault.js';
import type { EntityChange, WorkResult } from '../../../revisions/change-record.js';
import { ConfigurationReader } from '../../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../../revisions/configuration-writer.js';
import type { OpenTable } from '../../../revisions/working-tables.js';
import { WorkingProfiles } from '../../profiles/profile-store.js';
import { type AddressFamily, IPV4, IPV6 } from '../addresses/addresses.js';
import {
  fromRow,
  listing,
  masked,
  type NetworkRecord,
  type NetworkRow,
  networksBy,
  WorkingNetworks,
} from './network-store.js';
import {
  Ipv4NetworkDto,
  Ipv4NetworkPath,
  Ipv6NetworkDto,
  Ipv6NetworkPath,
  type NetworkDto,
  PatchIpv4NetworkDto,
  PatchIpv6NetworkDto,
  toDto,
  toRecord,
} from './network.dto.js';

const PROFILE_LOCATION = ['body', 'profile_id'];

/** The differences between the endpoints of IPv4 and IPv6 networks. */
interface Differences<A, Path extends object> {
  readonly name: string;
  readonly family: AddressFamily<A>;
  readonly list: `/${string}`;
  /** The path of one network. */
  readonly one: `/${string}`;
  readonly Path: DtoClass<Path>;
  readonly addressOf: (path: Path) => A;
  readonly Whole: DtoClass<NetworkDto>;
  readonly Patch: DtoClass<Partial<NetworkDto>>;
}

function networksController<A, Path extends object>(differences: Differences<A, Path>) {
  const { name, family, list, one, Path, addressOf, Whole, Patch } = differences;
  const open: OpenTable<WorkingNetworks<A>> = (tables) => {
    tables.of(WorkingProfiles.open);
    return new WorkingNetworks(family);
  };
  class NetworksController {
    constructor(
      @Inject(ConfigurationReader) readonly reader: ConfigurationReader,
      @Inject(ConfigurationWriter) readonly writer: ConfigurationWriter,
    ) {}

    @ApiEndpoint(`GET ${list}`, {
      isListing: true,
      summary: `All ${name} networks, by address`,
      answer: [Whole],
    })
    list(): Listed<NetworkDto> {
      return this.reader.list(listing(family), (row: NetworkRow) =>
        toDto(family, fromRow(family, row)),
      );
    }

    @ApiEndpoint(`POST ${list}`, {
      body: Whole,
      summary: `Attaches an ${name} network to a profile`,
      answer: Whole,
      errors: [409],
    })
    create(@Body() body: NetworkDto): Answer<NetworkDto> {
      const record = toRecord(family, body);
      return this.writer.write({
        need: (tables) => {
          const networks = tables.of(open);
          networks.need({ address: record.address });
          networks.needPrefix(record);
          tables.of(WorkingProfiles.open).needId(record.profileId);
        },
        make: (tables) => {
          const networks = tables.of(open);
          throwIfFaults(tables.of(WorkingProfiles.open).faults(record.profileId, PROFILE_LOCATION));
          checkUnique(family, networks, record, null);
          networks.put(record);
          return { result: toDto(family, record), ...change(family, null, record) };
        },
      });
    }

    @ApiEndpoint(`GET ${one}`, {
      path: Path,
      summary: `One ${name} network`,
      answer: Whole,
      errors: [404],
    })
    get(@Param() path: Path): Answer<NetworkDto> {
      const address = addressOf(path);
      return this.reader.read(
        networksBy(family, 'address', [family.format(address)]),
        ([row]: NetworkRow[]) =>
          toDto(family, existing(family, address, row && fromRow(family, row))),
      );
    }

    @ApiEndpoint(`PATCH ${one}`, {
      path: Path,
      body: Patch,
      summary: `Changes an ${name} network; a different address changes its key`,
      answer: Whole,
      errors: [404, 409],
    })
    update(@Param() path: Path, @Body() body: Partial<NetworkDto>): Answer<NetworkDto> {
      const address = addressOf(path);
      const moved = body.ip === undefined ? null : family.parse(body.ip);
      const { profile_id: profileId } = body;
      return this.writer.write({
        need: (tables) => {
          const networks = tables.of(open);
          networks.need({ address });
          if (moved !== null) networks.need({ address: moved });
          for (const prefixLength of possibleLengths(family, body)) {
            networks.needPrefix({ address: moved ?? address, prefixLength });
          }
          if (profileId !== undefined) tables.of(WorkingProfiles.open).needId(profileId);
        },
        make: (tables) => {
          const networks = tables.of(open);
          const before = existing(family, address, networks.find({ address }));
          const record = toRecord(family, { ...toDto(family, before), ...body });
          if (profileId !== undefined) {
            throwIfFaults(tables.of(WorkingProfiles.open).faults(profileId, PROFILE_LOCATION));
          }
          checkUnique(family, networks, record, before);
          networks.delete(before);
          networks.put(record);
          return { result: toDto(family, record), ...change(family, before, record) };
        },
      });
    }

    @ApiEndpoint(`DELETE ${one}`, {
      path: Path,
      summary: `Deletes an ${name} network`,
      errors: [404],
    })
    remove(@Param() path: Path): Answer<void> {
      const address = addressOf(path);
      return this.writer.write({
        need: (tables) => tables.of(open).need({ address }),
        make: (tables) => {
          const networks = tables.of(open);
          const before = existing(family, address, networks.find({ address }));
          networks.delete(before);
          return { result: undefined, ...change(family, before, null) };
        },
      });
    }
  }
  return NetworksController;
}

function existing<A>(
  family: AddressFamily<A>,
  address: A,
  record: NetworkRecord<A> | null | undefined,
): NetworkRecord<A> {
  return orNotFound(record, `network ${family.format(address)}`);
}

/**
 * The lengths of the prefix that a network may get by a patch. One that is moved without a new length keeps its own,
 * which is not known yet.
 */
function possibleLengths(
  { prefixLengths: [shortest, longest] }: AddressFamily<unknown>,
  { ip, prefix_len }: Partial<NetworkDto>,
): number[] {
  if (prefix_len !== undefined) return [prefix_len];
  if (ip === undefined) return [];
  return Array.from({ length: longest - shortest + 1 }, (_, i) => shortest + i);
}

/**
 * @param own the record that is changed; null for a new one.
 * @throws RequestError 409 when another record has the same address or the same masked prefix.
 */
function checkUnique<A>(
  family: AddressFamily<A>,
  networks: WorkingNetworks<A>,
  record: NetworkRecord<A>,
  own: NetworkRecord<A> | null,
): void {
  const text = ({ address, prefixLength }: NetworkRecord<A>): string =>
    `${family.format(address)}/${prefixLength}`;
  const sameAddress = networks.find({ address: record.address });
  if (sameAddress !== null && sameAddress !== own) {
    throw conflict(
      `network ${text(sameAddress)} already has this address; the address is the key, so nested ` +
        `networks need different addresses, such as ${family.nestingExample}`,
    );
  }
  const samePrefix = networks.findSamePrefix(record);
  if (samePrefix !== null && samePrefix !== own) {
    throw conflict(`network ${text(samePrefix)} covers exactly the same addresses`);
  }
}

/** Its record has the address with host bits, by which people know the network (decisions §3). */
function change<A>(
  family: AddressFamily<A>,
  before: NetworkRecord<A> | null,
  after: NetworkRecord<A> | null,
): Pick<WorkResult<unknown>, 'changes' | 'keys'> {
  const { kind } = family;
  const entityOf = (record: NetworkRecord<A> | null): unknown => record && masked(family, record);
  const [old, key] = [before, after].map((one) => one && toKeyRow(kind, one as never));
  const isMoved = old !== null && String(old) !== String(key);
  return {
    changes: [{ kind, before: entityOf(before), after: entityOf(after) } as EntityChange],
    keys: [
      ...(isMoved ? [['delete', kind, old] as const] : []),
      ...(key === null ? [] : [['put', kind, key] as const]),
    ],
  };
}

@Controller()
export class Ipv4NetworksController extends networksController<number, Ipv4NetworkPath>({
  name: 'IPv4',
  family: IPV4,
  list: '/net/',
  one: '/net/:int_ip',
  Path: Ipv4NetworkPath,
  addressOf: (path) => path.int_ip,
  Whole: Ipv4NetworkDto,
  Patch: PatchIpv4NetworkDto,
}) {}

@Controller()
export class Ipv6NetworksController extends networksController<Ipv6Words, Ipv6NetworkPath>({
  name: 'IPv6',
  family: IPV6,
  list: '/net6/',
  one: '/net6/:ipv6',
  Path: Ipv6NetworkPath,
  addressOf: (path) => IPV6.parse(path.ipv6) as Ipv6Words,
  Whole: Ipv6NetworkDto,
  Patch: PatchIpv6NetworkDto,
}) {}
