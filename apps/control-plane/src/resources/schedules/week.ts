import { type Period, WEEK_POINTS } from '@weir/config-model';

/** Weekday names of the contract, in the order of their integers. */
export const WEEKDAYS = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const;

/** A time point as the contract defines it: a weekday by name or integer, and `HH:MM` on half hours up to `24:00`. */
export interface TimePoint {
  readonly day: (typeof WEEKDAYS)[number] | number;
  readonly time: string;
}

/** A period as it was submitted. */
export interface SubmittedPeriod {
  readonly start: TimePoint;
  readonly end: TimePoint;
}

const POINTS_PER_DAY = WEEK_POINTS / 7;
const ZERO = 0x30;

/** Monday 0 … Sunday 6. */
export function dayNumber(day: TimePoint['day']): number {
  return typeof day === 'number' ? day : WEEKDAYS.indexOf(day);
}

/** Half hours since midnight: 0 … 48. `split` takes ten times as long. */
export function halfHours(time: string): number {
  const digit = (at: number): number => time.charCodeAt(at) - ZERO;
  return (digit(0) * 10 + digit(1)) * 2 + digit(3) / 3;
}

/** The period in week points; `24:00` is the next day's `00:00` (decisions §8). */
export function toPeriod({ start, end }: SubmittedPeriod): Period {
  return { start: weekPoint(start), end: weekPoint(end) };
}

function weekPoint({ day, time }: TimePoint): number {
  return (dayNumber(day) * POINTS_PER_DAY + halfHours(time)) % WEEK_POINTS;
}
