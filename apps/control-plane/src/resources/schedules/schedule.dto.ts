import { Example, exampleOf, type Json } from '../../http/validation/dto.js';
import { allOptional } from '../../http/validation/fields.js';
import {
  IsId,
  IsNested,
  IsNestedList,
  IsText,
  Rule,
  type Wrong,
} from '../../http/validation/rules.js';
import {
  dayNumber,
  halfHours,
  type ScheduleRecord,
  type SubmittedPeriod,
  type TimePoint,
  WEEKDAYS,
} from './schedule-store.js';

/** A weekday by name, or by integer, 0 is Monday. */
const IsDay = (): PropertyDecorator =>
  Rule(wrongDay, {
    oneOf: [
      { type: 'string', enum: WEEKDAYS },
      { type: 'integer', minimum: 0, maximum: 6 },
    ],
  });

function wrongDay(value: unknown): Wrong | null {
  if ((WEEKDAYS as readonly unknown[]).includes(value)) return null;
  if (typeof value === 'number') return wrongDayNumber(value);
  const msg = 'Must be a weekday in lower case, or an integer from 0 (Monday) to 6';
  return { msg, type: typeof value === 'string' ? 'enum' : 'string_type' };
}

function wrongDayNumber(value: number): Wrong | null {
  const msg = 'Must be an integer from 0 to 6';
  if (!Number.isInteger(value)) return { msg, type: 'int_type' };
  if (value < 0) return { msg, type: 'greater_than_equal' };
  return value > 6 ? { msg, type: 'less_than_equal' } : null;
}

const TIME = /^(([01][0-9]|2[0-3]):[03]0|24:00)$/;

const IsTime = (): PropertyDecorator =>
  IsText('a time HH:MM on a half hour, from 00:00 to 24:00', (text) => TIME.test(text), {
    pattern: TIME.source,
  });

@Example<TimePointDto>({ day: 'friday', time: '18:00' })
export class TimePointDto {
  @IsDay() day!: TimePoint['day'];
  @IsTime() time!: string;
}

/** The end of a period. On the weekday of the start, it must be after the start (decisions §5). */
const IsAfterStart = (): PropertyDecorator =>
  Rule((end, owner) => {
    const { start } = owner as { start?: unknown };
    if (!isTimePoint(start) || !isTimePoint(end)) return null;
    const sameDay = dayNumber(start.day) === dayNumber(end.day);
    return sameDay && halfHours(end.time) <= halfHours(start.time) ? NOT_AFTER_START : null;
  });

const NOT_AFTER_START: Wrong = {
  msg: 'Must be after the start; a period that passes midnight ends on the next weekday',
  type: 'value_error',
};

/** Whether the rules of `TimePointDto` hold. A point that breaks them has its own faults. */
function isTimePoint(value: unknown): value is TimePoint {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { day, time } = value as { day?: unknown; time?: unknown };
  return wrongDay(day) === null && typeof time === 'string' && TIME.test(time);
}

@Example<PeriodDto>({
  start: exampleOf(TimePointDto),
  end: { day: 'saturday', time: '06:00' },
})
export class PeriodDto {
  @IsNested(() => TimePointDto) start!: TimePointDto;
  @IsAfterStart() @IsNested(() => TimePointDto) end!: TimePointDto;
}

@Example<ScheduleDto>({ target_profile_id: 2, periods: [exampleOf(PeriodDto)] })
export class ScheduleDto {
  @IsId() target_profile_id!: number;
  @IsNestedList(() => PeriodDto) periods!: PeriodDto[];
}

@Example<PatchScheduleDto>({
  periods: [{ start: { day: 'sunday', time: '20:30' }, end: { day: 'sunday', time: '24:00' } }],
})
export class PatchScheduleDto extends allOptional(ScheduleDto) {}

export function toRecord(profileId: number, dto: ScheduleDto): ScheduleRecord {
  return { profileId, targetProfileId: dto.target_profile_id, periods: dto.periods };
}

export function toDto(record: ScheduleRecord): Json<ScheduleDto> {
  return {
    target_profile_id: record.targetProfileId,
    periods: record.periods.map(toPeriodDto),
  };
}

/** PostgreSQL gives the fields in another order. */
function toPeriodDto({ start, end }: SubmittedPeriod): SubmittedPeriod {
  return {
    start: { day: start.day, time: start.time },
    end: { day: end.day, time: end.time },
  };
}
