import { type Check, id, integer, object, textForm } from '../../http/validation/checks.js';
import { Example } from '../../http/validation/examples.js';
import {
  Field,
  ObjectField,
  ObjectListField,
  OptionalField,
  OptionalObjectListField,
} from '../../http/validation/fields.js';
import type { Json } from '../../http/validation/json.js';
import type { ScheduleRecord } from './schedule-store.js';
import { dayNumber, halfHours, type SubmittedPeriod, type TimePoint, WEEKDAYS } from './week.js';

const dayInteger = integer(0, 6);

/** A weekday by name, or by integer, 0 is Monday. */
const day: Check = {
  schema: { oneOf: [{ type: 'string', enum: WEEKDAYS }, dayInteger.schema] },
  faults: (value) => {
    if (typeof value === 'number') return dayInteger.faults(value);
    if ((WEEKDAYS as readonly unknown[]).includes(value)) return [];
    const msg = 'Must be a weekday in lower case, or an integer from 0 (Monday) to 6';
    return [{ loc: [], msg, type: typeof value === 'string' ? 'enum' : 'string_type' }];
  },
};

const time = textForm(
  'a time HH:MM on a half hour, from 00:00 to 24:00',
  (text) => /^(?:(?:[01]\d|2[0-3]):[03]0|24:00)$/.test(text),
  { pattern: '^(([01][0-9]|2[0-3]):[03]0|24:00)$' },
);

@Example<TimePointDto>({ day: 'friday', time: '18:00' })
export class TimePointDto {
  @Field(day)
  day!: TimePoint['day'];

  @Field(time)
  time!: string;
}

/** The end of a period. On the weekday of the start, it must be after the start (decisions §5). */
const periodEnd: Check = {
  schema: object.schema,
  faults: (value, owner) => {
    const own = object.faults(value);
    const { start } = (owner ?? {}) as { start?: unknown };
    if (own.length > 0 || !isTimePoint(start) || !isTimePoint(value)) return own;
    const sameDay = dayNumber(start.day) === dayNumber(value.day);
    if (!sameDay || halfHours(value.time) > halfHours(start.time)) return own;
    const msg = 'Must be after the start; a period that passes midnight ends on the next weekday';
    return [{ loc: [], msg, type: 'value_error' }];
  },
};

function isTimePoint(value: unknown): value is TimePoint {
  if (object.faults(value).length > 0) return false;
  const point = value as { day?: unknown; time?: unknown };
  return day.faults(point.day).length === 0 && time.faults(point.time).length === 0;
}

@Example<PeriodDto>({
  start: { day: 'friday', time: '18:00' },
  end: { day: 'saturday', time: '06:00' },
})
export class PeriodDto {
  @ObjectField(() => TimePointDto)
  start!: TimePointDto;

  @ObjectField(() => TimePointDto, periodEnd)
  end!: TimePointDto;
}

@Example<ScheduleDto>({
  target_profile_id: 2,
  periods: [{ start: { day: 'friday', time: '18:00' }, end: { day: 'saturday', time: '06:00' } }],
})
export class ScheduleDto {
  @Field(id)
  target_profile_id!: number;

  @ObjectListField(() => PeriodDto)
  periods!: PeriodDto[];
}

@Example<PatchScheduleDto>({
  periods: [{ start: { day: 'sunday', time: '20:30' }, end: { day: 'sunday', time: '24:00' } }],
})
export class PatchScheduleDto {
  @OptionalField(id)
  target_profile_id?: number;

  @OptionalObjectListField(() => PeriodDto)
  periods?: PeriodDto[];
}

/** Where a body names the target profile. */
export const TARGET_LOCATION = ['body', 'target_profile_id'] as const;

export function toRecord(profileId: number, dto: ScheduleDto): ScheduleRecord {
  return {
    profileId,
    targetProfileId: dto.target_profile_id,
    periods: dto.periods.map(toSubmitted),
  };
}

export function toPatch(dto: PatchScheduleDto): Partial<Omit<ScheduleRecord, 'profileId'>> {
  return {
    ...(dto.target_profile_id !== undefined && { targetProfileId: dto.target_profile_id }),
    ...(dto.periods !== undefined && { periods: dto.periods.map(toSubmitted) }),
  };
}

export function toDto(record: ScheduleRecord): Json<ScheduleDto> {
  return {
    target_profile_id: record.targetProfileId,
    periods: record.periods.map(toSubmitted),
  };
}

function toSubmitted({ start, end }: SubmittedPeriod): SubmittedPeriod {
  return {
    start: { day: start.day, time: start.time },
    end: { day: end.day, time: end.time },
  };
}
