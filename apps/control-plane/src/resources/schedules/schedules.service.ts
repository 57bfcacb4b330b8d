import { Injectable } from '@nestjs/common';
import { conflict, notFound } from '../../http/errors/errors.js';
import { throwIfFaults } from '../../http/validation/fault.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import type { WorkingTables } from '../../revisions/working-tables.js';
import { profileNotFound } from '../profiles/profile-store.js';
import { WorkingProfiles } from '../profiles/working-profiles.js';
import {
  type FoundSchedule,
  openSchedules,
  scheduleOf,
  type ScheduleRecord,
  toEntity,
} from './schedule-store.js';

@Injectable()
export class SchedulesService {
  constructor(
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
  ) {}

  get(profileId: number): Promise<WithRevision<ScheduleRecord>> {
    return this.reader.read(scheduleOf(profileId), ([row]: FoundSchedule[]) => {
      if (row === undefined) throw profileNotFound(profileId);
      return existing(profileId, row.targetProfileId === null ? null : row);
    });
  }

  create(record: ScheduleRecord): Promise<WithRevision<ScheduleRecord>> {
    const { profileId } = record;
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
        return { result: record, changes: [{ kind: 'schedule', before: null, after }] };
      },
    });
  }

  update(
    profileId: number,
    patch: Partial<Omit<ScheduleRecord, 'profileId'>>,
  ): Promise<WithRevision<ScheduleRecord>> {
    const { targetProfileId } = patch;
    return this.writer.write({
      items: 1 + (patch.periods?.length ?? 0),
      need: (tables) => {
        need(tables, profileId);
        if (targetProfileId !== undefined) tables.of(WorkingProfiles.open).needId(targetProfileId);
      },
      make: (tables) => {
        const before = find(tables, profileId);
        const record = { ...before, ...patch };
        // The stored target exists: profiles are never deleted one by one.
        if (targetProfileId !== undefined) checkTarget(tables, record);
        const change = {
          before: toEntity(before),
          after: toEntity(record),
        };
        tables.of(openSchedules).put(record);
        return { result: record, changes: [{ kind: 'schedule', ...change }] };
      },
    });
  }

  remove(profileId: number): Promise<WithRevision<void>> {
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

function existing(profileId: number, record: ScheduleRecord | null | undefined): ScheduleRecord {
  if (!record) throw notFound(`schedule of profile ${profileId}`);
  return record;
}

/** Where a body names the target profile. */
const TARGET_LOCATION = ['body', 'target_profile_id'];

/** @throws InvalidRequestError when the target is the profile itself, or does not exist. */
function checkTarget(tables: WorkingTables, { profileId, targetProfileId }: ScheduleRecord): void {
  if (targetProfileId === profileId) {
    const msg = 'Must differ from the profile that has the schedule';
    throwIfFaults([{ loc: TARGET_LOCATION, msg, type: 'value_error' }]);
  }
  throwIfFaults(tables.of(WorkingProfiles.open).faults(targetProfileId, TARGET_LOCATION));
}
