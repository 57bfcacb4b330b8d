import { Body, Controller, Inject, Param, Query } from '@nestjs/common';
import { parseTime } from '@weir/ops';
import { timelineOf } from '@weir/policy';
import { conflict, orNotFound } from '../../http/errors/errors.js';
import { type Answer, ApiEndpoint, ReadingEndpoint } from '../../http/routing/endpoint.js';
import { Example, type Json } from '../../http/validation/dto.js';
import { throwIfFaults } from '../../http/validation/fault.js';
import { IntegerParameter, IsId, IsTime, Optional } from '../../http/validation/rules.js';
import { PROCESS, type Process } from '../../process.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import type { WorkingTables } from '../../revisions/working-tables.js';
import { profileNotFound, WorkingProfiles } from '../profiles/profile-store.js';
import { ProfilePath } from '../profiles/profile.dto.js';
import {
  type FoundSchedule,
  openSchedules,
  scheduleOf,
  type ScheduleRecord,
  toEntity,
} from './schedule-store.js';
import { PatchScheduleDto, ScheduleDto, toDto, toRecord } from './schedule.dto.js';

@Controller()
export class SchedulesController {
  constructor(
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
  ) {}

  @ApiEndpoint('GET /profile/:profile_id/schedule', {
    path: ProfilePath,
    summary: 'The schedule of a profile',
    answer: ScheduleDto,
    errors: [404],
  })
  get(@Param() { profile_id: id }: ProfilePath): Answer<ScheduleDto> {
    return this.reader.read(scheduleOf(id), ([row]: FoundSchedule[]) => {
      if (row === undefined) throw profileNotFound(id);
      return toDto(existing(id, row.targetProfileId === null ? null : row));
    });
  }

  @ApiEndpoint('POST /profile/:profile_id/schedule', {
    path: ProfilePath,
    body: ScheduleDto,
    summary: 'Creates the schedule of a profile',
    answer: ScheduleDto,
    errors: [404, 409],
  })
  create(
    @Param() { profile_id: profileId }: ProfilePath,
    @Body() body: ScheduleDto,
  ): Answer<ScheduleDto> {
    const record = toRecord(profileId, body);
    return this.writer.write({
      items: 1 + record.periods.length,
      need: (tables) => {
        need(tables, profileId);
        tables.of(WorkingProfiles.open).needId(record.targetProfileId);
      },
      make: (tables) => {
        const schedules = tables.of(openSchedules);
        tables.of(WorkingProfiles.open).require(profileId);
        checkTarget(tables, record);
        if (schedules.find({ profileId }) !== null) {
          throw conflict(`profile ${profileId} already has a schedule`);
        }
        const after = toEntity(record);
        schedules.put(record);
        return { result: toDto(record), changes: [{ kind: 'schedule', before: null, after }] };
      },
    });
  }

  @ApiEndpoint('PATCH /profile/:profile_id/schedule', {
    path: ProfilePath,
    body: PatchScheduleDto,
    summary: 'Changes the schedule of a profile; submitted periods replace all existing ones',
    answer: ScheduleDto,
    errors: [404],
  })
  update(
    @Param() { profile_id: profileId }: ProfilePath,
    @Body() body: Json<PatchScheduleDto>,
  ): Answer<ScheduleDto> {
    const { target_profile_id: targetId, periods = [] } = body;
    return this.writer.write({
      items: 1 + periods.length,
      need: (tables) => {
        need(tables, profileId);
        if (targetId !== undefined) tables.of(WorkingProfiles.open).needId(targetId);
      },
      make: (tables) => {
        const stored = find(tables, profileId);
        const record = toRecord(profileId, { ...toDto(stored), ...body });
        // The stored target exists: profiles are never deleted one by one.
        if (targetId !== undefined) checkTarget(tables, record);
        const [before, after] = [toEntity(stored), toEntity(record)];
        tables.of(openSchedules).put(record);
        return { result: toDto(record), changes: [{ kind: 'schedule', before, after }] };
      },
    });
  }

  @ApiEndpoint('DELETE /profile/:profile_id/schedule', {
    path: ProfilePath,
    summary: 'Deletes the schedule of a profile',
    errors: [404],
  })
  remove(@Param() { profile_id: profileId }: ProfilePath): Answer<void> {
    return this.writer.write({
      need: (tables) => need(tables, profileId),
      make: (tables) => {
        const before = toEntity(find(tables, profileId));
        tables.of(openSchedules).delete({ profileId });
        return { result: undefined, changes: [{ kind: 'schedule', before, after: null }] };
      },
    });
  }
}

function need(tables: WorkingTables, profileId: number): void {
  tables.of(WorkingProfiles.open).needId(profileId);
  tables.of(openSchedules).need({ profileId });
}

/** @throws RequestError 404 when there is no such profile, or it has no schedule. */
function find(tables: WorkingTables, profileId: number): ScheduleRecord {
  tables.of(WorkingProfiles.open).require(profileId);
  return existing(profileId, tables.of(openSchedules).find({ profileId }));
}

function existing(profileId: number, record: ScheduleRecord | null): ScheduleRecord {
  return orNotFound(record, `schedule of profile ${profileId}`);
}

const TARGET_LOCATION = ['body', 'target_profile_id'];

/** @throws InvalidRequestError when the target is the profile itself, or does not exist. */
function checkTarget(tables: WorkingTables, { profileId, targetProfileId }: ScheduleRecord): void {
  if (targetProfileId === profileId) {
    const msg = 'Must differ from the profile that has the schedule';
    throwIfFaults([{ loc: TARGET_LOCATION, msg, type: 'value_error' }]);
  }
  throwIfFaults(tables.of(WorkingProfiles.open).faults(targetProfileId, TARGET_LOCATION));
}

@Example<SwitchesQuery>({ from: '2026-11-24T12:00:00+01:00', days: 14 })
class SwitchesQuery {
  /** Undefined: now. */
  @Optional() @IsTime() from?: string;
  @Optional() @IntegerParameter(1, 31) days = 7;
}

@Example<SwitchDto>({
  from: '2026-11-24T20:00:00+01:00',
  until: '2026-11-25T06:30:00+01:00',
  active_id: 2,
})
class SwitchDto {
  @IsTime() from!: string;
  @IsTime() until!: string;
  @IsId() active_id!: number;
}

@Controller()
export class SwitchesController {
  private readonly timeZone: string;

  constructor(
    private readonly reader: ConfigurationReader,
    @Inject(PROCESS) { configuration }: Process,
  ) {
    this.timeZone = configuration.SCHEDULE_TIMEZONE;
  }

  @ReadingEndpoint('GET /profile/:profile_id/switches', {
    path: ProfilePath,
    query: SwitchesQuery,
    summary: 'Which profile is active from when to when, by the schedule of a profile',
    answer: [SwitchDto],
    errors: [404],
  })
  async list(
    @Param() { profile_id: profileId }: ProfilePath,
    @Query() { from, days }: SwitchesQuery,
  ): Promise<Json<SwitchDto>[]> {
    const found = await this.reader.read(scheduleOf(profileId), ([row]: FoundSchedule[]) => {
      if (row === undefined) throw profileNotFound(profileId);
      return row.targetProfileId === null ? null : toEntity(row);
    });
    const fromMs = from === undefined ? Date.now() : parseTime(from);
    const local = Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO(this.timeZone);
    const untilMs = local.add({ days }).epochMilliseconds;
    const schedule = found.result ?? { profileId, targetProfileId: profileId, periods: [] };
    return timelineOf(schedule, this.timeZone, { fromMs, untilMs }).map((time) => ({
      from: this.toText(time.fromMs),
      until: this.toText(time.untilMs),
      active_id: time.isInside ? schedule.targetProfileId : profileId,
    }));
  }

  /** RFC 3339 with the offset of the zone at that time. */
  private toText(timeMs: number): string {
    const local = Temporal.Instant.fromEpochMilliseconds(timeMs).toZonedDateTimeISO(this.timeZone);
    return local.toString({ timeZoneName: 'never' });
  }
}
