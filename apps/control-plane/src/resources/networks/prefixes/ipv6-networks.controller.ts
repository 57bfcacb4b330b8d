import { Body, Controller, Param } from '@nestjs/common';
import { ApiEndpoint } from '../../../http/routing/endpoint.js';
import type { Json } from '../../../http/validation/dto.js';
import type { Listing } from '../../../revisions/listing.js';
import type { WithRevision } from '../../../revisions/with-revision.js';
import {
  IPV6_DTO,
  Ipv6NetworkDto,
  Ipv6NetworkPath,
  PatchIpv6NetworkDto,
  PROFILE_LOCATION,
} from './network.dto.js';
import { Ipv6NetworksService } from './networks.service.js';

const { toAddress, toRecord, toPatch, toDto } = IPV6_DTO;

@Controller()
export class Ipv6NetworksController {
  constructor(private readonly networks: Ipv6NetworksService) {}

  @ApiEndpoint('GET /net6/', {
    isListing: true,
    summary: 'All IPv6 networks, by address',
    answer: [Ipv6NetworkDto],
  })
  list(): Promise<WithRevision<Listing<Json<Ipv6NetworkDto>>>> {
    return this.networks.list(toDto);
  }

  @ApiEndpoint('POST /net6/', {
    body: Ipv6NetworkDto,
    summary: 'Attaches an IPv6 network to a profile',
    answer: Ipv6NetworkDto,
    errors: [409],
  })
  async create(@Body() body: Ipv6NetworkDto): Promise<WithRevision<Json<Ipv6NetworkDto>>> {
    return (await this.networks.create(toRecord(body), PROFILE_LOCATION)).map(toDto);
  }

  @ApiEndpoint('GET /net6/:ipv6', {
    path: Ipv6NetworkPath,
    summary: 'One IPv6 network',
    answer: Ipv6NetworkDto,
    errors: [404],
  })
  async get(@Param() path: Ipv6NetworkPath): Promise<WithRevision<Json<Ipv6NetworkDto>>> {
    return (await this.networks.get(toAddress(path.ipv6))).map(toDto);
  }

  @ApiEndpoint('PATCH /net6/:ipv6', {
    path: Ipv6NetworkPath,
    body: PatchIpv6NetworkDto,
    summary: 'Changes an IPv6 network; a different address changes its key',
    answer: Ipv6NetworkDto,
    errors: [404, 409],
  })
  async update(
    @Param() path: Ipv6NetworkPath,
    @Body() body: PatchIpv6NetworkDto,
  ): Promise<WithRevision<Json<Ipv6NetworkDto>>> {
    return (await this.networks.update(toAddress(path.ipv6), toPatch(body), PROFILE_LOCATION)).map(
      toDto,
    );
  }

  @ApiEndpoint('DELETE /net6/:ipv6', {
    path: Ipv6NetworkPath,
    summary: 'Deletes an IPv6 network',
    errors: [404],
  })
  remove(@Param() path: Ipv6NetworkPath): Promise<WithRevision<void>> {
    return this.networks.remove(toAddress(path.ipv6));
  }
}
