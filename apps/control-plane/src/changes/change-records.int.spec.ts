import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Prisma } from '../generated/prisma/client.js';
import type { ConfigurationReader } from '../revisions/configuration-reader.js';
import { createFreshDatabase, dropDatabase } from '../testing/fresh-database.js';
import { openPool } from '../testing/open-pool.js';
import { ChangeRecords, type RecordFilter, type RecordPlace } from './change-records.js';

const RECORDS = 40_000;
const LIMIT = 100;
const NEWEST = 'newest';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Rows that the scans of a plan have read. */
function rowsRead(node: PlanNode): number {
  const below = (node.Plans ?? []).reduce((sum, plan) => sum + rowsRead(plan), 0);
  if (!node['Node Type'].includes('Scan') || node['Node Type'] === 'Subquery Scan') return below;
  return (
    below + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
  );
}

/**
 * The worst for a planner that counts on an even distribution: the tokens and profiles of the old records are not those
 * of the new ones. One change in a thousand names every profile.
 */
describe('the records of changes', () => {
  let url: string;
  let pool: pg.Pool;

  beforeAll(async () => {
    url = await createFreshDatabase(inject('databaseUrl'));
    pool = openPool({ connectionString: url, max: 1 });
    await pool.query(`
      INSERT INTO change_record
        (revision, origin, token, request_id, method, route, keys, key_count, profile_ids)
      SELECT revision, 'api', half, 'request', 'POST', '/net/', '[["put", "profile", [1]]]', 1,
             ARRAY[CASE WHEN revision % 1000 = 0 THEN -1 WHEN half = 'old' THEN 1 ELSE 2 END]
      FROM generate_series(1, ${RECORDS}) AS revision,
           LATERAL (SELECT CASE WHEN revision <= ${RECORDS / 2} THEN 'old' ELSE 'new' END AS half) AS halves;
      INSERT INTO change_record_profile SELECT unnest(profile_ids), revision, token FROM change_record`);
    await pool.query(`UPDATE config_head SET revision = ${RECORDS}`);
    await pool.query('ANALYZE');
  });
  afterAll(async () => {
    await pool.end();
    await dropDatabase(inject('databaseUrl'), url);
  });

  const places: RecordPlace[] = [
    { after: 0 },
    { after: RECORDS / 2 - 50 },
    { after: RECORDS / 2 },
    { after: RECORDS },
    NEWEST,
  ];
  const filters: RecordFilter[] = [
    {},
    ...['old', 'new', 'nobody'].flatMap((token) => [
      { token },
      ...[1, 2, 3].map((profileId) => ({ token, profileId })),
    ]),
    ...[1, 2, 3].map((profileId) => ({ profileId })),
  ];
  const cases = filters.flatMap((filter) => places.map((place) => ({ filter, place })));

  it.each(cases)('are found by $filter at $place without reading others', async (one) => {
    const { filter, place } = one;
    let query: Prisma.Sql | undefined;
    const reader = { read: (sql: Prisma.Sql) => Promise.resolve((query = sql)) };
    const records = new ChangeRecords(reader as unknown as ConfigurationReader);
    await records.find(filter, place, LIMIT);
    const { text, values } = query!;
    const found = await pool.query<{ revision: number }>(text, values);
    const [{ 'QUERY PLAN': plan }] = (
      await pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
        values,
      )
    ).rows;
    // A candidate of each of two walks through an index, and its record.
    expect(rowsRead(plan[0].Plan)).toBeLessThanOrEqual(3 * LIMIT);

    const half = (revision: number) => (revision <= RECORDS / 2 ? 'old' : 'new');
    const all = Array.from({ length: RECORDS }, (_, i) => i + 1).filter((revision) => {
      const { token, profileId } = filter;
      const isNamed =
        profileId === undefined ||
        revision % 1000 === 0 ||
        profileId === (half(revision) === 'old' ? 1 : 2);
      return (token === undefined || token === half(revision)) && isNamed;
    });
    const expected =
      place === NEWEST
        ? all.slice(-LIMIT)
        : all.filter((revision) => revision > place.after).slice(0, LIMIT);
    expect(found.rows.map(({ revision }) => revision).sort((a, b) => a - b)).toEqual(expected);
  });
});
