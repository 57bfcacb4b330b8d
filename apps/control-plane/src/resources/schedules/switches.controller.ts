import { Controller, Inject, Param, Query } from '@nestjs/common';
import { parseTime } from '@weir/ops';
import { activeTimes } from '@weir/policy';
import { ReadingEndpoint } from '../../http/routing/endpoint.js';
import { Example, type Json } from '../../http/validation/dto.js';
import { IntegerParameter, IsId, IsTime, Optional } from '../../http/validation/rules.js';
import { PROCESS, type Process } from '../../process.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import { ProfilePath } from '../profiles/profile.dto.js';
import { profileNotFound } from '../profiles/profile-store.js';
import { type FoundSchedule, scheduleOf, toEntity } from './schedule-store.js';

@Example<SwitchesQuery>({ from: '2026-11-24T12:00:00+01:00', days: 14 })
class SwitchesQuery {
  /** Undefined: now. */
  @Optional()
  @IsTime()
  from?: string;

  @Optional()
  @IntegerParameter(1, 31)
  days = 7;
}

@Example<SwitchDto>({
  from: '2026-11-24T20:00:00+01:00',
  until: '2026-11-25T06:30:00+01:00',
  active_id: 2,
})
class SwitchDto {
  @IsTime()
  from!: string;

  @IsTime()
  until!: string;

  @IsId()
  active_id!: number;
}

/** Which profile is active when. */
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
    return activeTimes(schedule, this.timeZone, { fromMs, untilMs }).map((time) => ({
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
