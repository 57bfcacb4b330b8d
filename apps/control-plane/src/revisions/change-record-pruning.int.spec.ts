import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, inject, it } from 'vitest';
import { createFreshDatabase, dropDatabase } from '../testing/fresh-database.js';
import { openPool } from '../testing/open-pool.js';
import { pruneChangeRecords } from './pruning.js';

const NEVER = new AbortController().signal;
const DAYS = 400;

let url: string;
let pool: pg.Pool;
/** Creates this many records. The first `old` of them expired a minute ago. */
const fill = async (records: number, old: number) => {
  await pool.query('TRUNCATE change_record, change_record_profile');
  await pool.query(`
    INSERT INTO change_record (revision, created_at, origin, keys, key_count, profile_ids)
    SELECT revision, now() - interval '${DAYS} days' + CASE WHEN revision <= ${old}
      THEN interval '-1 minute' ELSE interval '1 minute' END, 'repair', '[]', 0, ARRAY[-1, 7, 8]
    FROM generate_series(1, ${records}) AS revision;
    INSERT INTO change_record_profile SELECT unnest(profile_ids), revision FROM change_record`);
};
/** What is left of the records, and of the index of their profiles. */
const left = async () => {
  const { rows } = await pool.query<object>(`
    SELECT min(revision)::int, count(*)::int FROM change_record
    UNION ALL SELECT min(revision)::int, count(*)::int FROM change_record_profile`);
  return rows;
};

beforeAll(async () => {
  url = await createFreshDatabase(inject('databaseUrl'));
  pool = openPool({ connectionString: url, max: 2 });
});
beforeEach(() => fill(5_000, 2_500));
afterAll(async () => {
  await pool.end();
  await dropDatabase(inject('databaseUrl'), url);
});

it('deletes the records that are older than so many days, and no others', async () => {
  expect(await pruneChangeRecords(pool, DAYS, NEVER)).toBe(2_500);
  expect(await left()).toEqual([
    { min: 2_501, count: 2_500 },
    { min: 2_501, count: 7_500 },
  ]);
  expect(await pruneChangeRecords(pool, DAYS, NEVER)).toBe(0);
  expect(await pruneChangeRecords(pool, DAYS + 1, NEVER)).toBe(0);
});

it('is not stopped by records that a wrong clock has dated, and deletes them with the next that is old', async () => {
  await pool.query(`
    UPDATE change_record SET created_at = now() + interval '10 years'
    WHERE revision <= 1_200 OR revision IN (2_000, 2_501)`);
  expect(await pruneChangeRecords(pool, DAYS, NEVER)).toBe(2_500);
  expect(await left()).toEqual([
    { min: 2_501, count: 2_500 },
    { min: 2_501, count: 7_500 },
  ]);
});

it('ends between two batches when its signal is aborted', async () => {
  const stop = new AbortController();
  pool.once('acquire', () => {
    stop.abort(new Error('stopped'));
  });
  await expect(pruneChangeRecords(pool, DAYS, stop.signal)).rejects.toThrow('stopped');
  expect(await left()).toEqual([
    { min: 1_001, count: 4_000 },
    { min: 1_001, count: 12_000 },
  ]);
});
