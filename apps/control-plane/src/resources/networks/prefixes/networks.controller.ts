import { Body, Controller, Inject, Param, type Type } from '@nestjs/common';
import type { Ipv6Words } from '@weir/config-model';
import { ApiEndpoint } from '../../../http/routing/endpoint.js';
import type { DtoClass, Json } from '../../../http/validation/dto.js';
import type { Listing } from '../../../revisions/listing.js';
import type { WithRevision } from '../../../revisions/with-revision.js';
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
import {
  Ipv4NetworksService,
  Ipv6NetworksService,
  type NetworksService,
} from './networks.service.js';

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
