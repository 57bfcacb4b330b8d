import { Body, Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { Lists } from '../../../http/callers/lists.js';
import { ApiResponse, ApiRequest } from '../../../http/routing/request-shape.js';
import type { Json } from '../../../http/validation/json.js';
import type { Listing } from '../../../revisions/listing.js';
import type { WithRevision } from '../../../revisions/with-revision.js';
import {
  Ipv6NetworkDto,
  Ipv6NetworkPath,
  PatchIpv6NetworkDto,
  PROFILE_LOCATION,
  toAddress,
  toDto,
  toPatch,
  toRecord,
} from './ipv6-network.dto.js';
import { Ipv6NetworksService } from './ipv6-networks.service.js';

@Controller('net6')
export class Ipv6NetworksController {
  constructor(private readonly networks: Ipv6NetworksService) {}

  @Get()
  @Lists(true)
  @ApiResponse({ summary: 'All IPv6 networks, by address', status: 200, body: [Ipv6NetworkDto] })
  list(): Promise<WithRevision<Listing<Json<Ipv6NetworkDto>>>> {
    return this.networks.list(toDto);
  }

  @Post()
  @ApiRequest({ body: Ipv6NetworkDto })
  @ApiResponse({
    summary: 'Attaches an IPv6 network to a profile',
    status: 201,
    body: Ipv6NetworkDto,
    errors: [409],
  })
  async create(@Body() body: Ipv6NetworkDto): Promise<WithRevision<Json<Ipv6NetworkDto>>> {
    return (await this.networks.create(toRecord(body), PROFILE_LOCATION)).map(toDto);
  }

  @Get(':ipv6')
  @ApiRequest({ path: Ipv6NetworkPath })
  @ApiResponse({ summary: 'One IPv6 network', status: 200, body: Ipv6NetworkDto, errors: [404] })
  async get(@Param() path: Ipv6NetworkPath): Promise<WithRevision<Json<Ipv6NetworkDto>>> {
    return (await this.networks.get(toAddress(path.ipv6))).map(toDto);
  }

  @Patch(':ipv6')
  @ApiRequest({ path: Ipv6NetworkPath, body: PatchIpv6NetworkDto })
  @ApiResponse({
    summary: 'Changes an IPv6 network; a different address changes its key',
    status: 200,
    body: Ipv6NetworkDto,
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

  @Delete(':ipv6')
  @ApiRequest({ path: Ipv6NetworkPath })
  @ApiResponse({ summary: 'Deletes an IPv6 network', status: 204, errors: [404] })
  remove(@Param() path: Ipv6NetworkPath): Promise<WithRevision<void>> {
    return this.networks.remove(toAddress(path.ipv6));
  }
}
