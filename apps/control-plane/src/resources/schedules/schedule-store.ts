import type { Schedule } from '@weir/config-model';
import { Prisma } from '../../generated/prisma/client.js';
import type { EntityTable } from '../../platform/database/entity-table.js';
import { RowsTable, type RowStore } from '../../revisions/working-rows.js';
import type { WorkingTables } from '../../revisions/working-tables.js';
import { WorkingProfiles } from '../profiles/working-profiles.js';
import { type SubmittedPeriod, toPeriod } from './week.js';

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

const STORE: RowStore<ScheduleRecord, Pick<ScheduleRecord, 'profileId'>> = {
  textOf: ({ profileId }) => String(profileId),
  find: (tx, keys) =>
    tx.$queryRaw(schedulesIn(Prisma.sql`${keys.map(({ profileId }) => profileId)}::integer[]`)),
  // One text, because the driver takes long to escape the texts of a list.
  insert: (tx, schedules, onConflict) => tx.$executeRaw`
    INSERT INTO schedule (profile_id, target_profile_id, periods)
    SELECT "profileId", "targetProfileId", periods
    FROM jsonb_to_recordset(${JSON.stringify(schedules)}::jsonb) AS schedule (
      "profileId" integer, "targetProfileId" integer, periods jsonb)
    ${onConflict}`,
  replacing: Prisma.sql`
    ON CONFLICT (profile_id) DO UPDATE
    SET target_profile_id = EXCLUDED.target_profile_id, periods = EXCLUDED.periods`,
  delete: (tx, keys) => tx.$executeRaw`
    DELETE FROM schedule WHERE profile_id = ANY (${keys.map(({ profileId }) => profileId)}::integer[])`,
};

/** Opens the schedules that a group of changes needs, by the profile that has them. */
export function openSchedules(
  tables: WorkingTables,
): RowsTable<ScheduleRecord, Pick<ScheduleRecord, 'profileId'>> {
  tables.of(WorkingProfiles.open);
  return new RowsTable(STORE);
}
