import { Injectable } from '@nestjs/common';
import { conflict, notFound } from '../../http/errors/errors.js';
import { type FaultLocation, throwIfFaults } from '../../http/validation/fault.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import { ConfigurationWriter, type Transaction } from '../../revisions/configuration-writer.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { profileFaults, requireProfile } from '../profiles/profile-store.js';
import {
  deleteSchedule,
  findSchedule,
  putSchedule,
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
    return this.reader.read((tx) => requireSchedule(tx, profileId));
  }

  /** @param targetLocation where the request names the target, for the fault of an unusable one. */
  create(
    record: ScheduleRecord,
    targetLocation: FaultLocation,
  ): Promise<WithRevision<ScheduleRecord>> {
    return this.writer.write(async (tx) => {
      await requireProfile(tx, record.profileId);
      await checkTarget(tx, record, targetLocation);
      if (await findSchedule(tx, record.profileId)) {
        throw conflict(`profile ${record.profileId} already has a schedule`);
      }
      await putSchedule(tx, record);
      const after = toEntity(record);
      return { result: record, changes: [{ kind: 'schedule', before: null, after }] };
    });
  }

  update(
    profileId: number,
    patch: Partial<Omit<ScheduleRecord, 'profileId'>>,
    targetLocation: FaultLocation,
  ): Promise<WithRevision<ScheduleRecord>> {
    return this.writer.write(async (tx) => {
      const before = await requireSchedule(tx, profileId);
      const record = { ...before, ...patch };
      await checkTarget(tx, record, targetLocation);
      await putSchedule(tx, record);
      const change = { before: toEntity(before), after: toEntity(record) };
      return { result: record, changes: [{ kind: 'schedule', ...change }] };
    });
  }

  remove(profileId: number): Promise<WithRevision<void>> {
    return this.writer.write(async (tx) => {
      const before = toEntity(await requireSchedule(tx, profileId));
      await deleteSchedule(tx, profileId);
      return { result: undefined, changes: [{ kind: 'schedule', before, after: null }] };
    });
  }
}

async function requireSchedule(tx: Transaction, profileId: number): Promise<ScheduleRecord> {
  await requireProfile(tx, profileId);
  const record = await findSchedule(tx, profileId);
  if (record === null) throw notFound(`schedule of profile ${profileId}`);
  return record;
}

/** @throws InvalidRequestError when the target is the profile itself, or does not exist. */
async function checkTarget(
  tx: Transaction,
  { profileId, targetProfileId }: ScheduleRecord,
  targetLocation: FaultLocation,
): Promise<void> {
  if (targetProfileId === profileId) {
    const msg = 'Must differ from the profile that has the schedule';
    throwIfFaults([{ loc: targetLocation, msg, type: 'value_error' }]);
  }
  throwIfFaults(await profileFaults(tx, targetProfileId, targetLocation));
}
