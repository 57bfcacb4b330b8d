import type pg from 'pg';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { createFreshDatabase, dropDatabase } from '../../testing/fresh-database.js';
import { openPool } from '../../testing/open-pool.js';
import { Database } from './database.js';
import { isDatabaseUnreachable } from './database-errors.js';

const log = pino({ level: 'silent' });
let url: string;
let admin: pg.Pool;

beforeEach(async () => {
  url = await createFreshDatabase(inject('databaseUrl'));
  admin = openPool({ connectionString: url });
});
afterEach(async () => {
  await admin.end();
  await dropDatabase(inject('databaseUrl'), url);
});

/** For the connections that are opened from now on. */
async function set(variable: string, value: string): Promise<void> {
  await admin.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET ${variable} = ${value}`);
}

it('times and numbers are read as they are, whatever the database has set', async () => {
  await set('TimeZone', "'Europe/Berlin'");
  await set('DateStyle', "'German, DMY'");
  await set('extra_float_digits', '0');
  const database = new Database(url, log);
  try {
    const text = "'2026-07-02T03:04:05Z'::timestamptz AS time, 9007199254740991::float8 AS number";
    const expected = [{ time: new Date('2026-07-02T03:04:05Z'), number: 9007199254740991 }];
    expect(await database.prisma.$queryRawUnsafe(`SELECT ${text}`)).toEqual(expected);
    expect((await database.pool.query(`SELECT ${text}`)).rows).toEqual(expected);
  } finally {
    await database.close();
  }
});

it('a change sees what others changed while it waited, whatever isolation the database has set', async () => {
  await set('default_transaction_isolation', "'serializable'");
  await admin.query('CREATE TABLE counter AS SELECT 0 AS n');
  const replicas = [new Database(url, log), new Database(url, log)];
  try {
    const count = async (client: pg.ClientBase): Promise<void> => {
      await client.query('BEGIN');
      await client.query('SELECT n FROM counter FOR UPDATE');
      await client.query('SELECT pg_sleep(0.1)');
      await client.query('UPDATE counter SET n = n + 1');
      await client.query('COMMIT');
    };
    await Promise.all(replicas.map((replica) => replica.write(count)));
    expect((await admin.query('SELECT n FROM counter')).rows).toEqual([{ n: 2 }]);
  } finally {
    for (const replica of replicas) await replica.close();
  }
});

it.each([
  ['off', 'local'],
  ['remote_write', 'remote_write'],
])('with synchronous_commit = %s in the database, that of a change is %s', async (value, used) => {
  await set('synchronous_commit', value);
  const database = new Database(url, log);
  try {
    const show = 'SHOW synchronous_commit';
    const { rows } = await database.write((client) => client.query(show));
    expect(rows).toEqual([{ synchronous_commit: used }]);
  } finally {
    await database.close();
  }
});

it('one that does not exist, as while it is restored, is out of reach', async () => {
  const database = new Database(`${url}_absent`, log);
  try {
    const attempts = await Promise.allSettled([
      database.prisma.$queryRaw`SELECT 1`,
      database.pool.query('SELECT 1'),
      database.write((client) => client.query('SELECT 1')),
    ]);
    for (const attempt of attempts)
      expect(attempt.status === 'rejected' && isDatabaseUnreachable(attempt.reason)).toBe(true);
  } finally {
    await database.close();
  }
});
