import { type Period, type Schedule, WEEK_POINTS } from '@weir/config-model';
import { Prisma } from '../../generated/prisma/client.js';
import type { EntityTable } from '../../platform/database/snapshot.js';
import { RowsTable, RowStore, type WorkingTables } from '../../revisions/working-tables.js';
import { WorkingProfiles } from '../profiles/profile-store.js';

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

/** A schedule as it was submitted: responses return its time points in the same form (decisions §5). */
export interface ScheduleRecord {
  readonly profileId: number;
  readonly targetProfileId: number;
  readonly periods: readonly SubmittedPeriod[];
}

/** A profile, with its schedule if it has one. */
export type FoundSchedule = ScheduleRecord | { readonly targetProfileId: null };

const COLUMNS = 'profile_id AS "profileId", target_profile_id AS "targetProfileId", periods';

export const SCHEDULES: EntityTable<'schedule', ScheduleRecord> = {
  kind: 'schedule',
  sql: `SELECT ${COLUMNS} FROM schedule ORDER BY profile_id`,
  toEntity,
};

/** The schedule as followers know it: its periods in week points. */
export function toEntity({ profileId, targetProfileId, periods }: ScheduleRecord): Schedule {
  return { profileId, targetProfileId, periods: periods.map(toPeriod) };
}

/** Reads the schedules of profiles, each as a `ScheduleRecord`. */
export function schedulesIn(profileIds: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SELECT ${Prisma.raw(COLUMNS)} FROM schedule WHERE profile_id = ANY (${profileIds})`;
}

/** Reads a profile with its schedule as a `FoundSchedule`. */
export function scheduleOf(profileId: number): Prisma.Sql {
  return Prisma.sql`
    SELECT ${Prisma.raw(COLUMNS)} FROM profile LEFT JOIN schedule ON profile_id = profile.id
    WHERE profile.id = ${profileId}`;
}

const STORE = new RowStore<ScheduleRecord, Pick<ScheduleRecord, 'profileId'>>({
  name: 'schedule',
  key: { profile_id: ['integer', ({ profileId }) => profileId] },
  rest: {
    target_profile_id: ['integer', ({ targetProfileId }) => targetProfileId],
    periods: ['jsonb', ({ periods }) => periods],
  },
  select: COLUMNS,
});

/** Opens the schedules that a group of changes needs, by the profile that has them. */
export function openSchedules(
  tables: WorkingTables,
): RowsTable<ScheduleRecord, Pick<ScheduleRecord, 'profileId'>> {
  tables.of(WorkingProfiles.open);
  return new RowsTable(STORE);
}
