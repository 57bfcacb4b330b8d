import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, startHarness } from '../testing/harness.js';
import { LIMITS } from './group-commit.js';

/** Two of them are too many for one group. */
const ITEMS = LIMITS.maxItems / 2 + 1;

let harness: Harness;
let other: pg.Client;

beforeAll(async () => {
  harness = await startHarness();
  other = new pg.Client(harness.environment['DATABASE_URL']);
  await other.connect();
  const profiles = [1, 2].map((id) => ({ profile: { id, page_id: null } }));
  const lists = { blockpages: [], bw_lists: [], nets: [], nets6: [], napts: [] };
  const { status } = await harness.call('POST', '/init/', { ...lists, profiles });
  expect(status).toBe(204);
});
afterAll(async () => {
  await other.end();
  await harness.stop();
});

const each = <T>(make: (i: number) => T) => Array.from({ length: ITEMS }, (_, i) => make(i));
/** A range for each item, all of one address. */
const naptRange = (profile: number, i: number) => ({
  ip: `198.51.100.${profile}`,
  lower_port_bound: 2 * i,
  upper_port_bound: 2 * i + 1,
});
const period = { start: { day: 0, time: '08:00' }, end: { day: 0, time: '09:00' } };

it.each<[string, string, (profile: number) => [path: string, body: unknown]]>([
  [
    'domain rules',
    'POST',
    (profile) => [
      `/profile/${profile}/bw_list/batch`,
      { type: 'deny', domains: each((i) => `host-${i}.example.com`) },
    ],
  ],
  [
    'NAPT ranges',
    'POST',
    (profile) => ['/napt/batch', each((i) => ({ ...naptRange(profile, i), profile_id: profile }))],
  ],
  [
    'NAPT ranges that are deleted',
    'DELETE',
    (profile) => ['/napt/batch', each((i) => naptRange(profile, i))],
  ],
  [
    'categories of a profile',
    'PATCH',
    (profile) => [`/profiles/${profile}`, { cat_ids: each((i) => i) }],
  ],
  [
    'periods of a schedule',
    'POST',
    (profile) => [
      `/profile/${profile}/schedule`,
      { target_profile_id: 3 - profile, periods: each(() => period) },
    ],
  ],
])('two requests with many %s are two transactions', async (_, method, requestOf) => {
  await other.query('BEGIN; SELECT FROM config_head FOR UPDATE');
  const answers = [1, 2].map((profile) => harness.call(method, ...requestOf(profile)));
  // Both wait then.
  await sleep(500);
  await other.query('COMMIT');
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses.every((status) => status >= 200 && status < 300)).toBe(true);
  const { rows } = await other.query(
    `SELECT count(DISTINCT xmin::text)::int AS n
     FROM (SELECT xmin FROM change ORDER BY revision DESC LIMIT 2) AS newest`,
  );
  expect(rows).toEqual([{ n: 2 }]);
});
