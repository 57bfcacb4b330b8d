import type { Schedule } from '@weir/config-model';
import { Prisma } from '../../generated/prisma/client.js';
import type { EntityTable } from '../../platform/database/entity-table.js';
import type { Transaction } from '../../revisions/configuration-writer.js';
import { type SubmittedPeriod, toPeriod } from './week.js';

/** A schedule as it was submitted: responses return its time points in the same form (decisions §5). */
export interface ScheduleRecord {
  readonly profileId: number;
  readonly targetProfileId: number;
  readonly periods: readonly SubmittedPeriod[];
}

interface ScheduleRow {
  profile_id: number;
  target_profile_id: number;
  periods: SubmittedPeriod[];
}

/** A profile, with its schedule if it has one. */
export type FoundSchedule =
  ScheduleRow | { profile_id: number; target_profile_id: null; periods: null };

export const SCHEDULES: EntityTable<'schedule', ScheduleRow> = {
  kind: 'schedule',
  sql: 'SELECT profile_id, target_profile_id, periods FROM schedule ORDER BY profile_id',
  toEntity: (row) => toEntity(toRecord(row)),
};

/** The schedule as followers know it: its periods in week points. */
export function toEntity({ profileId, targetProfileId, periods }: ScheduleRecord): Schedule {
  return { profileId, targetProfileId, periods: periods.map(toPeriod) };
}

/** Reads a profile with its schedule as a `FoundSchedule`. */
export function scheduleOf(profileId: number): Prisma.Sql {
  return Prisma.sql`
    SELECT profile.id AS profile_id, target_profile_id, periods
    FROM profile LEFT JOIN schedule ON profile_id = profile.id
    WHERE profile.id = ${profileId}`;
}

export async function findSchedules(
  tx: Transaction,
  profileIds: readonly number[],
): Promise<ScheduleRecord[]> {
  const rows = await tx.$queryRaw<ScheduleRow[]>`
    SELECT profile_id, target_profile_id, periods FROM schedule
    WHERE profile_id = ANY (${profileIds}::integer[])`;
  return rows.map(toRecord);
}

/** @throws when there is one of the same profile. */
export function insertSchedules(
  tx: Transaction,
  schedules: readonly ScheduleRecord[],
): Promise<void> {
  return write(tx, schedules, Prisma.empty);
}

export function replaceSchedules(
  tx: Transaction,
  schedules: readonly ScheduleRecord[],
): Promise<void> {
  const replace = Prisma.sql`
    ON CONFLICT (profile_id) DO UPDATE
    SET target_profile_id = EXCLUDED.target_profile_id, periods = EXCLUDED.periods`;
  return write(tx, schedules, replace);
}

export async function deleteSchedules(
  tx: Transaction,
  schedules: readonly ScheduleRecord[],
): Promise<void> {
  if (schedules.length === 0) return;
  const profileIds = schedules.map(({ profileId }) => profileId);
  await tx.$executeRaw`DELETE FROM schedule WHERE profile_id = ANY (${profileIds}::integer[])`;
}

async function write(
  tx: Transaction,
  schedules: readonly ScheduleRecord[],
  onConflict: Prisma.Sql,
): Promise<void> {
  if (schedules.length === 0) return;
  // One text, because the driver takes long to escape the texts of a list.
  await tx.$executeRaw`
    INSERT INTO schedule (profile_id, target_profile_id, periods)
    SELECT "profileId", "targetProfileId", periods
    FROM jsonb_to_recordset(${JSON.stringify(schedules)}::jsonb) AS schedule (
      "profileId" integer, "targetProfileId" integer, periods jsonb)
    ${onConflict}`;
}

export function toRecord(row: ScheduleRow): ScheduleRecord {
  const { periods } = row;
  return { profileId: row.profile_id, targetProfileId: row.target_profile_id, periods };
}
