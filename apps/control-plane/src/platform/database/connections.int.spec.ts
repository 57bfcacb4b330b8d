import { pino } from 'pino';
import { expect, inject, it } from 'vitest';
import { createFreshDatabase, dropDatabase } from '../../testing/fresh-database.js';
import { openPool } from '../../testing/open-pool.js';
import { Database } from './database.js';

it('times and numbers are read as they are, whatever the database has set', async () => {
  const url = await createFreshDatabase(inject('databaseUrl'));
  const name = new URL(url).pathname.slice(1);
  const admin = openPool({ connectionString: url });
  await admin.query(`
    ALTER DATABASE ${name} SET TimeZone = 'Europe/Berlin';
    ALTER DATABASE ${name} SET DateStyle = 'German, DMY';
    ALTER DATABASE ${name} SET extra_float_digits = 0`);
  await admin.end();
  const database = new Database(url, pino({ level: 'silent' }));
  try {
    const text = "'2026-07-02T03:04:05Z'::timestamptz AS time, 9007199254740991::float8 AS number";
    const expected = [{ time: new Date('2026-07-02T03:04:05Z'), number: 9007199254740991 }];
    expect(await database.prisma.$queryRawUnsafe(`SELECT ${text}`)).toEqual(expected);
    expect((await database.pool.query(`SELECT ${text}`)).rows).toEqual(expected);
  } finally {
    await database.close();
    await dropDatabase(inject('databaseUrl'), url);
  }
});
