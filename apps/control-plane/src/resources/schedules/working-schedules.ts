import type { Transaction } from '../../revisions/configuration-writer.js';
import { WorkingRows } from '../../revisions/working-rows.js';
import type { WorkingTable, WorkingTables } from '../../revisions/working-tables.js';
import { WorkingProfiles } from '../profiles/working-profiles.js';
import {
  deleteSchedules,
  findSchedules,
  insertSchedules,
  replaceSchedules,
  type ScheduleRecord,
} from './schedule-store.js';

/** The schedules that a group of changes needs, by the profile that has them. */
export class WorkingSchedules implements WorkingTable {
  static readonly open = (tables: WorkingTables): WorkingSchedules => {
    tables.of(WorkingProfiles.open);
    return new WorkingSchedules();
  };

  private readonly rows = new WorkingRows<ScheduleRecord, number>();

  need(profileId: number): void {
    this.rows.need(profileId);
  }

  find(profileId: number): ScheduleRecord | null {
    return this.rows.get(profileId);
  }

  put(schedule: ScheduleRecord): void {
    this.rows.set(schedule.profileId, schedule);
  }

  delete(profileId: number): void {
    this.rows.set(profileId, null);
  }

  async read(tx: Transaction): Promise<void> {
    const profileIds = this.rows.neededKeys;
    if (profileIds.length === 0) return;
    for (const schedule of await findSchedules(tx, profileIds)) {
      this.rows.load(schedule.profileId, schedule);
    }
  }

  async write(tx: Transaction): Promise<void> {
    const { deleted, inserted, replaced } = this.rows.split();
    await deleteSchedules(tx, deleted);
    await insertSchedules(tx, inserted);
    await replaceSchedules(tx, replaced);
  }
}
