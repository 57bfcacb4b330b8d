import { type Profile, RuleVerdict } from '@weir/config-model';
import { pino } from 'pino';
import { expect, inject, it } from 'vitest';
import { Database } from '../../platform/database/database.js';
import { createFreshDatabase, dropDatabase } from '../../testing/fresh-database.js';
import { WorkingTables } from '../../revisions/working-tables.js';
import { WorkingProfiles } from './profile-store.js';

it('a profile may have more rules than a statement may have parameters', async () => {
  const url = await createFreshDatabase(inject('databaseUrl'));
  const database = new Database(url, pino({ level: 'silent' }));
  const profile: Profile = {
    id: 1,
    pageId: null,
    whiteListOnly: false,
    emptyDnsAnswer: false,
    appawarePriorityOverBwlists: false,
    categoryIds: [],
    applicationRules: Array.from({ length: 70_000 }, (_, applicationId) => ({
      applicationId,
      verdict: applicationId % 3 === 0 ? RuleVerdict.deny : RuleVerdict.allow,
    })),
  };
  const found = await database.write(async (_client, tx) => {
    const open = async () => {
      const profiles = new WorkingTables().of(WorkingProfiles.open);
      profiles.need(profile);
      await profiles.read(tx);
      return profiles;
    };
    const profiles = await open();
    profiles.put(profile);
    await profiles.write(tx);
    return (await open()).get(profile.id);
  });
  expect(found).toEqual(profile);
  await database.close();
  await dropDatabase(inject('databaseUrl'), url);
});
