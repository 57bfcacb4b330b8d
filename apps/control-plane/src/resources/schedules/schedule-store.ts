import type { Schedule } from '@weir/config-model';
import type { Prisma } from '../../generated/prisma/client.js';
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

export const SCHEDULES: EntityTable<'schedule', ScheduleRow> = {
  kind: 'schedule',
  sql: 'SELECT profile_id, target_profile_id, periods FROM schedule ORDER BY profile_id',
  toEntity: (row) =>
    toEntity({
      profileId: row.profile_id,
      targetProfileId: row.target_profile_id,
      periods: row.periods,
    }),
};

/** The schedule as followers know it: its periods in week points. */
export function toEntity({ profileId, targetProfileId, periods }: ScheduleRecord): Schedule {
  return { profileId, targetProfileId, periods: periods.map(toPeriod) };
}

export async function findSchedule(
  tx: Transaction,
  profileId: number,
): Promise<ScheduleRecord | null> {
  const row = await tx.schedule.findUnique({ where: { profileId } });
  return row && { ...row, periods: row.periods as unknown as SubmittedPeriod[] };
}

/** Creates or replaces the schedule of a profile. */
export async function putSchedule(tx: Transaction, record: ScheduleRecord): Promise<void> {
  const { profileId, targetProfileId } = record;
  const columns = { targetProfileId, periods: record.periods as unknown as Prisma.InputJsonArray };
  await tx.schedule.upsert({
    where: { profileId },
    create: { profileId, ...columns },
    update: columns,
  });
}

export async function deleteSchedule(tx: Transaction, profileId: number): Promise<void> {
  await tx.schedule.delete({ where: { profileId } });
}
