import { Body, Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import type { Json } from '../../http/validation/json.js';
import { ProfilePath } from '../profiles/profile-path.js';
import { Gives, Takes } from '../../http/routing/shape.js';
import type { Revised } from '../../revisions/revised.js';
import {
  PatchScheduleDto,
  ScheduleDto,
  TARGET_LOCATION,
  toDto,
  toPatch,
  toRecord,
} from './schedule.dto.js';
import { SchedulesService } from './schedules.service.js';

@Controller('profile/:profile_id/schedule')
export class SchedulesController {
  constructor(private readonly schedules: SchedulesService) {}

  @Get()
  @Takes({ path: ProfilePath })
  @Gives({ summary: 'The schedule of a profile', status: 200, body: ScheduleDto, refusals: [404] })
  async get(@Param() path: ProfilePath): Promise<Revised<Json<ScheduleDto>>> {
    return (await this.schedules.get(path.profile_id)).map(toDto);
  }

  @Post()
  @Takes({ path: ProfilePath, body: ScheduleDto })
  @Gives({
    summary: 'Gives a profile its schedule',
    status: 201,
    body: ScheduleDto,
    refusals: [404, 409],
  })
  async create(
    @Param() path: ProfilePath,
    @Body() body: ScheduleDto,
  ): Promise<Revised<Json<ScheduleDto>>> {
    return (await this.schedules.create(toRecord(path.profile_id, body), TARGET_LOCATION)).map(
      toDto,
    );
  }

  @Patch()
  @Takes({ path: ProfilePath, body: PatchScheduleDto })
  @Gives({
    summary: 'Changes the schedule of a profile; periods that are sent replace all before',
    status: 200,
    body: ScheduleDto,
    refusals: [404],
  })
  async update(
    @Param() path: ProfilePath,
    @Body() body: PatchScheduleDto,
  ): Promise<Revised<Json<ScheduleDto>>> {
    return (await this.schedules.update(path.profile_id, toPatch(body), TARGET_LOCATION)).map(
      toDto,
    );
  }

  @Delete()
  @Takes({ path: ProfilePath })
  @Gives({ summary: 'Removes the schedule of a profile', status: 204, refusals: [404] })
  remove(@Param() path: ProfilePath): Promise<Revised<void>> {
    return this.schedules.remove(path.profile_id);
  }
}
