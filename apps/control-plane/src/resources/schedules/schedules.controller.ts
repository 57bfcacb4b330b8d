import { Body, Controller, Param } from '@nestjs/common';
import { ApiEndpoint } from '../../http/routing/endpoint.js';
import type { Json } from '../../http/validation/dto.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { ProfilePath } from '../profiles/profile.dto.js';
import { PatchScheduleDto, ScheduleDto, toDto, toPatch, toRecord } from './schedule.dto.js';
import { SchedulesService } from './schedules.service.js';

@Controller()
export class SchedulesController {
  constructor(private readonly schedules: SchedulesService) {}

  @ApiEndpoint('GET /profile/:profile_id/schedule', {
    path: ProfilePath,
    summary: 'The schedule of a profile',
    answer: ScheduleDto,
    errors: [404],
  })
  async get(@Param() path: ProfilePath): Promise<WithRevision<Json<ScheduleDto>>> {
    return (await this.schedules.get(path.profile_id)).map(toDto);
  }

  @ApiEndpoint('POST /profile/:profile_id/schedule', {
    path: ProfilePath,
    body: ScheduleDto,
    summary: 'Creates the schedule of a profile',
    answer: ScheduleDto,
    errors: [404, 409],
  })
  async create(
    @Param() path: ProfilePath,
    @Body() body: ScheduleDto,
  ): Promise<WithRevision<Json<ScheduleDto>>> {
    return (await this.schedules.create(toRecord(path.profile_id, body))).map(toDto);
  }

  @ApiEndpoint('PATCH /profile/:profile_id/schedule', {
    path: ProfilePath,
    body: PatchScheduleDto,
    summary: 'Changes the schedule of a profile; submitted periods replace all existing ones',
    answer: ScheduleDto,
    errors: [404],
  })
  async update(
    @Param() path: ProfilePath,
    @Body() body: PatchScheduleDto,
  ): Promise<WithRevision<Json<ScheduleDto>>> {
    return (await this.schedules.update(path.profile_id, toPatch(body))).map(toDto);
  }

  @ApiEndpoint('DELETE /profile/:profile_id/schedule', {
    path: ProfilePath,
    summary: 'Deletes the schedule of a profile',
    errors: [404],
  })
  remove(@Param() path: ProfilePath): Promise<WithRevision<void>> {
    return this.schedules.remove(path.profile_id);
  }
}
