import { Body, Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { Lists } from '../../../http/callers/lists.js';
import { ApiResponse, ApiRequest } from '../../../http/routing/request-shape.js';
import type { Json } from '../../../http/validation/json.js';
import type { Listing } from '../../../revisions/listing.js';
import type { WithRevision } from '../../../revisions/with-revision.js';
import {
  Ipv4NetworkDto,
  Ipv4NetworkPath,
  PatchIpv4NetworkDto,
  PROFILE_LOCATION,
  toDto,
  toPatch,
  toRecord,
} from './ipv4-network.dto.js';
import { Ipv4NetworksService } from './ipv4-networks.service.js';

@Controller('net')
export class Ipv4NetworksController {
  constructor(private readonly networks: Ipv4NetworksService) {}

  @Get()
  @Lists(true)
  @ApiResponse({ summary: 'All IPv4 networks, by address', status: 200, body: [Ipv4NetworkDto] })
  list(): Promise<WithRevision<Listing<Json<Ipv4NetworkDto>>>> {
    return this.networks.list(toDto);
  }

  @Post()
  @ApiRequest({ body: Ipv4NetworkDto })
  @ApiResponse({
    summary: 'Attaches an IPv4 network to a profile',
    status: 201,
    body: Ipv4NetworkDto,
    errors: [409],
  })
  async create(@Body() body: Ipv4NetworkDto): Promise<WithRevision<Json<Ipv4NetworkDto>>> {
    return (await this.networks.create(toRecord(body), PROFILE_LOCATION)).map(toDto);
  }

  @Get(':int_ip')
  @ApiRequest({ path: Ipv4NetworkPath })
  @ApiResponse({ summary: 'One IPv4 network', status: 200, body: Ipv4NetworkDto, errors: [404] })
  async get(@Param() path: Ipv4NetworkPath): Promise<WithRevision<Json<Ipv4NetworkDto>>> {
    return (await this.networks.get(path.int_ip)).map(toDto);
  }

  @Patch(':int_ip')
  @ApiRequest({ path: Ipv4NetworkPath, body: PatchIpv4NetworkDto })
  @ApiResponse({
    summary: 'Changes an IPv4 network; a different address changes its key',
    status: 200,
    body: Ipv4NetworkDto,
    errors: [404, 409],
  })
  async update(
    @Param() path: Ipv4NetworkPath,
    @Body() body: PatchIpv4NetworkDto,
  ): Promise<WithRevision<Json<Ipv4NetworkDto>>> {
    return (await this.networks.update(path.int_ip, toPatch(body), PROFILE_LOCATION)).map(toDto);
  }

  @Delete(':int_ip')
  @ApiRequest({ path: Ipv4NetworkPath })
  @ApiResponse({ summary: 'Deletes an IPv4 network', status: 204, errors: [404] })
  remove(@Param() path: Ipv4NetworkPath): Promise<WithRevision<void>> {
    return this.networks.remove(path.int_ip);
  }
}
