import { Body, Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { ApiResponse, ApiRequest } from '../../http/routing/request-shape.js';
import type { Json } from '../../http/validation/json.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { ProfilePath } from '../profiles/profile-path.js';
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
  @ApiRequest({ path: ProfilePath })
  @ApiResponse({
    summary: 'The schedule of a profile',
    status: 200,
    body: ScheduleDto,
    errors: [404],
  })
  async get(@Param() path: ProfilePath): Promise<WithRevision<Json<ScheduleDto>>> {
    return (await this.schedules.get(path.profile_id)).map(toDto);
  }

  @Post()
  @ApiRequest({ path: ProfilePath, body: ScheduleDto })
  @ApiResponse({
    summary: 'Creates the schedule of a profile',
    status: 201,
    body: ScheduleDto,
    errors: [404, 409],
  })
  async create(
    @Param() path: ProfilePath,
    @Body() body: ScheduleDto,
  ): Promise<WithRevision<Json<ScheduleDto>>> {
    const created = await this.schedules.create(toRecord(path.profile_id, body), TARGET_LOCATION);
    return created.map(toDto);
  }

  @Patch()
  @ApiRequest({ path: ProfilePath, body: PatchScheduleDto })
  @ApiResponse({
    summary: 'Changes the schedule of a profile; submitted periods replace all existing ones',
    status: 200,
    body: ScheduleDto,
    errors: [404],
  })
  async update(
    @Param() path: ProfilePath,
    @Body() body: PatchScheduleDto,
  ): Promise<WithRevision<Json<ScheduleDto>>> {
    const updated = await this.schedules.update(path.profile_id, toPatch(body), TARGET_LOCATION);
    return updated.map(toDto);
  }

  @Delete()
  @ApiRequest({ path: ProfilePath })
  @ApiResponse({ summary: 'Deletes the schedule of a profile', status: 204, errors: [404] })
  remove(@Param() path: ProfilePath): Promise<WithRevision<void>> {
    return this.schedules.remove(path.profile_id);
  }
}
