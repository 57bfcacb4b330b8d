import { Body, Controller, Param } from '@nestjs/common';
import { ApiEndpoint } from '../../../http/routing/endpoint.js';
import type { Json } from '../../../http/validation/dto.js';
import type { WithRevision } from '../../../revisions/with-revision.js';
import {
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

@Controller()
export class NaptController {
  constructor(private readonly napt: NaptService) {}

  @ApiEndpoint('POST /napt/', {
    body: NaptDto,
    summary: 'Attaches a port range to a profile',
    answer: NaptDto,
    errors: [409],
  })
  async create(@Body() body: NaptDto): Promise<WithRevision<Json<NaptDto>>> {
    return (await this.napt.create(toAssignment(body))).map(toDto);
  }

  @ApiEndpoint('POST /napt/batch', {
    body: [NaptDto],
    summary: 'Attaches several port ranges, all or none',
    answer: [NaptDto],
    errors: [409],
  })
  async createAll(@Body() body: NaptDto[]): Promise<WithRevision<Json<NaptDto>[]>> {
    const created = await this.napt.createAll(body.map(toAssignment));
    return created.map((assignments) => assignments.map(toDto));
  }

  @ApiEndpoint('DELETE /napt/batch', {
    body: [NaptKeyDto],
    summary: 'Deletes several port ranges, all or none',
    errors: [404],
  })
  removeAll(@Body() body: NaptKeyDto[]): Promise<WithRevision<void>> {
    return this.napt.remove(body.map(toKey));
  }

  @ApiEndpoint('GET /napt/:int_ip', {
    path: NaptAddressPath,
    summary: 'All port ranges of an address, by lower bound',
    answer: [NaptDto],
  })
  async listOf(@Param() path: NaptAddressPath): Promise<WithRevision<Json<NaptDto>[]>> {
    const found = await this.napt.listOf(path.int_ip);
    return found.map((assignments) => assignments.map(toDto));
  }

  @ApiEndpoint('GET /napt/:int_ip/:lower_port_bound/:upper_port_bound', {
    path: NaptPath,
    summary: 'One port range',
    answer: NaptDto,
    errors: [404],
  })
  async get(@Param() path: NaptPath): Promise<WithRevision<Json<NaptDto>>> {
    return (await this.napt.get(pathKey(path))).map(toDto);
  }

  @ApiEndpoint('PATCH /napt/:int_ip/:lower_port_bound/:upper_port_bound', {
    path: NaptPath,
    body: PatchNaptDto,
    summary: 'Changes a port range; its key may change',
    answer: NaptDto,
    errors: [404, 409],
  })
  async update(
    @Param() path: NaptPath,
    @Body() body: PatchNaptDto,
  ): Promise<WithRevision<Json<NaptDto>>> {
    return (await this.napt.update(pathKey(path), toPatch(body))).map(toDto);
  }

  @ApiEndpoint('DELETE /napt/:int_ip/:lower_port_bound/:upper_port_bound', {
    path: NaptPath,
    summary: 'Deletes a port range',
    errors: [404],
  })
  remove(@Param() path: NaptPath): Promise<WithRevision<void>> {
    return this.napt.remove([pathKey(path)]);
  }
}
