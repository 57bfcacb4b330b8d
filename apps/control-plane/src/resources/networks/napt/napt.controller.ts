import { Body, Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import type { Json } from '../../../http/validation/json.js';
import { Gives, Takes } from '../../../http/routing/shape.js';
import type { Revised } from '../../../revisions/revised.js';
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
  @Takes({ body: NaptDto })
  @Gives({
    summary: 'Attaches a port range to a profile',
    status: 201,
    body: NaptDto,
    refusals: [409],
  })
  async create(@Body() body: NaptDto): Promise<Revised<Json<NaptDto>>> {
    return (await this.napt.create(toAssignment(body), NAPT_LOCATIONS.single)).map(toDto);
  }

  @Post('batch')
  @Takes({ body: [NaptDto] })
  @Gives({ summary: 'Attaches several port ranges', status: 201, body: [NaptDto], refusals: [409] })
  async createAll(@Body() body: NaptDto[]): Promise<Revised<Json<NaptDto>[]>> {
    const created = await this.napt.createAll(body.map(toAssignment), NAPT_LOCATIONS.batch);
    return created.map((assignments) => assignments.map(toDto));
  }

  @Delete('batch')
  @Takes({ body: [NaptKeyDto] })
  @Gives({
    summary: 'Removes several port ranges, or none when one is missing',
    status: 204,
    refusals: [404],
  })
  removeAll(@Body() body: NaptKeyDto[]): Promise<Revised<void>> {
    return this.napt.remove(body.map(toKey));
  }

  @Get(':int_ip')
  @Takes({ path: NaptAddressPath })
  @Gives({ summary: 'All port ranges of an address, by lower bound', status: 200, body: [NaptDto] })
  async listOf(@Param() path: NaptAddressPath): Promise<Revised<Json<NaptDto>[]>> {
    const found = await this.napt.listOf(path.int_ip);
    return found.map((assignments) => assignments.map(toDto));
  }

  @Get(':int_ip/:lower_port_bound/:upper_port_bound')
  @Takes({ path: NaptPath })
  @Gives({ summary: 'One port range', status: 200, body: NaptDto, refusals: [404] })
  async get(@Param() path: NaptPath): Promise<Revised<Json<NaptDto>>> {
    return (await this.napt.get(pathKey(path))).map(toDto);
  }

  @Patch(':int_ip/:lower_port_bound/:upper_port_bound')
  @Takes({ path: NaptPath, body: PatchNaptDto })
  @Gives({
    summary: 'Changes a port range; another key moves it',
    status: 200,
    body: NaptDto,
    refusals: [404, 409],
  })
  async update(
    @Param() path: NaptPath,
    @Body() body: PatchNaptDto,
  ): Promise<Revised<Json<NaptDto>>> {
    return (await this.napt.update(pathKey(path), toPatch(body), NAPT_LOCATIONS.single)).map(toDto);
  }

  @Delete(':int_ip/:lower_port_bound/:upper_port_bound')
  @Takes({ path: NaptPath })
  @Gives({ summary: 'Removes a port range', status: 204, refusals: [404] })
  remove(@Param() path: NaptPath): Promise<Revised<void>> {
    return this.napt.remove([pathKey(path)]);
  }
}
