import { Body, Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { ApiResponse, ApiRequest } from '../../../http/routing/request-shape.js';
import type { Json } from '../../../http/validation/json.js';
import type { WithRevision } from '../../../revisions/with-revision.js';
import {
  NAPT_LOCATIONS,
  NaptAddressPath,
  NaptDto,
  NaptKeyDto,
  NaptPath,
  PatchNaptDto,
  pathKey,
  toAssignment,
  toDto,
  toKey,
  toPatch,
} from './napt.dto.js';
import { NaptService } from './napt.service.js';

@Controller('napt')
export class NaptController {
  constructor(private readonly napt: NaptService) {}

  @Post()
  @ApiRequest({ body: NaptDto })
  @ApiResponse({
    summary: 'Attaches a port range to a profile',
    status: 201,
    body: NaptDto,
    errors: [409],
  })
  async create(@Body() body: NaptDto): Promise<WithRevision<Json<NaptDto>>> {
    return (await this.napt.create(toAssignment(body), NAPT_LOCATIONS.single)).map(toDto);
  }

  @Post('batch')
  @ApiRequest({ body: [NaptDto] })
  @ApiResponse({
    summary: 'Attaches several port ranges, all or none',
    status: 201,
    body: [NaptDto],
    errors: [409],
  })
  async createAll(@Body() body: NaptDto[]): Promise<WithRevision<Json<NaptDto>[]>> {
    const created = await this.napt.createAll(body.map(toAssignment), NAPT_LOCATIONS.batch);
    return created.map((assignments) => assignments.map(toDto));
  }

  @Delete('batch')
  @ApiRequest({ body: [NaptKeyDto] })
  @ApiResponse({
    summary: 'Deletes several port ranges, all or none',
    status: 204,
    errors: [404],
  })
  removeAll(@Body() body: NaptKeyDto[]): Promise<WithRevision<void>> {
    return this.napt.remove(body.map(toKey));
  }

  @Get(':int_ip')
  @ApiRequest({ path: NaptAddressPath })
  @ApiResponse({
    summary: 'All port ranges of an address, by lower bound',
    status: 200,
    body: [NaptDto],
  })
  async listOf(@Param() path: NaptAddressPath): Promise<WithRevision<Json<NaptDto>[]>> {
    const found = await this.napt.listOf(path.int_ip);
    return found.map((assignments) => assignments.map(toDto));
  }

  @Get(':int_ip/:lower_port_bound/:upper_port_bound')
  @ApiRequest({ path: NaptPath })
  @ApiResponse({ summary: 'One port range', status: 200, body: NaptDto, errors: [404] })
  async get(@Param() path: NaptPath): Promise<WithRevision<Json<NaptDto>>> {
    return (await this.napt.get(pathKey(path))).map(toDto);
  }

  @Patch(':int_ip/:lower_port_bound/:upper_port_bound')
  @ApiRequest({ path: NaptPath, body: PatchNaptDto })
  @ApiResponse({
    summary: 'Changes a port range; its key may change',
    status: 200,
    body: NaptDto,
    errors: [404, 409],
  })
  async update(
    @Param() path: NaptPath,
    @Body() body: PatchNaptDto,
  ): Promise<WithRevision<Json<NaptDto>>> {
    return (await this.napt.update(pathKey(path), toPatch(body), NAPT_LOCATIONS.single)).map(toDto);
  }

  @Delete(':int_ip/:lower_port_bound/:upper_port_bound')
  @ApiRequest({ path: NaptPath })
  @ApiResponse({ summary: 'Deletes a port range', status: 204, errors: [404] })
  remove(@Param() path: NaptPath): Promise<WithRevision<void>> {
    return this.napt.remove([pathKey(path)]);
  }
}
