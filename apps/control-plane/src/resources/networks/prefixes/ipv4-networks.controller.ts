import { Body, Controller, Param } from '@nestjs/common';
import { ApiEndpoint } from '../../../http/routing/endpoint.js';
import type { Json } from '../../../http/validation/dto.js';
import type { Listing } from '../../../revisions/listing.js';
import type { WithRevision } from '../../../revisions/with-revision.js';
import {
  IPV4_DTO,
  Ipv4NetworkDto,
  Ipv4NetworkPath,
  PatchIpv4NetworkDto,
  PROFILE_LOCATION,
} from './network.dto.js';
import { Ipv4NetworksService } from './networks.service.js';

const { toRecord, toPatch, toDto } = IPV4_DTO;

@Controller()
export class Ipv4NetworksController {
  constructor(private readonly networks: Ipv4NetworksService) {}

  @ApiEndpoint('GET /net/', {
    isListing: true,
    summary: 'All IPv4 networks, by address',
    answer: [Ipv4NetworkDto],
  })
  list(): Promise<WithRevision<Listing<Json<Ipv4NetworkDto>>>> {
    return this.networks.list(toDto);
  }

  @ApiEndpoint('POST /net/', {
    body: Ipv4NetworkDto,
    summary: 'Attaches an IPv4 network to a profile',
    answer: Ipv4NetworkDto,
    errors: [409],
  })
  async create(@Body() body: Ipv4NetworkDto): Promise<WithRevision<Json<Ipv4NetworkDto>>> {
    return (await this.networks.create(toRecord(body), PROFILE_LOCATION)).map(toDto);
  }

  @ApiEndpoint('GET /net/:int_ip', {
    path: Ipv4NetworkPath,
    summary: 'One IPv4 network',
    answer: Ipv4NetworkDto,
    errors: [404],
  })
  async get(@Param() path: Ipv4NetworkPath): Promise<WithRevision<Json<Ipv4NetworkDto>>> {
    return (await this.networks.get(path.int_ip)).map(toDto);
  }

  @ApiEndpoint('PATCH /net/:int_ip', {
    path: Ipv4NetworkPath,
    body: PatchIpv4NetworkDto,
    summary: 'Changes an IPv4 network; a different address changes its key',
    answer: Ipv4NetworkDto,
    errors: [404, 409],
  })
  async update(
    @Param() path: Ipv4NetworkPath,
    @Body() body: PatchIpv4NetworkDto,
  ): Promise<WithRevision<Json<Ipv4NetworkDto>>> {
    return (await this.networks.update(path.int_ip, toPatch(body), PROFILE_LOCATION)).map(toDto);
  }

  @ApiEndpoint('DELETE /net/:int_ip', {
    path: Ipv4NetworkPath,
    summary: 'Deletes an IPv4 network',
    errors: [404],
  })
  remove(@Param() path: Ipv4NetworkPath): Promise<WithRevision<void>> {
    return this.networks.remove(path.int_ip);
  }
}
