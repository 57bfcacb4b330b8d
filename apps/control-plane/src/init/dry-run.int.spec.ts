import { request } from 'node:http';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { faultsOf, type Harness, startHarness } from '../testing/harness.js';

const EMPTY = { blockpages: [], profiles: [], bw_lists: [], napts: [], nets: [], nets6: [] };
const STORED = {
  blockpages: [
    { id: 7, type: 1 },
    { id: 8, type: 0 },
  ],
  profiles: [
    { profile: { id: 1, page_id: 7 }, cat_ids: [3] },
    { profile: { id: 2 } },
    { profile: { id: 3 } },
  ],
  bw_lists: [{ profile_id: 1, type: 'deny', domains: ['example.com'] }],
  napts: [
    { ip: '198.51.100.1', lower_port_bound: 1024, upper_port_bound: 2047, profile_id: 1 },
    { ip: '198.51.100.1', profile_id: 3 },
  ],
  nets: [
    { ip: '192.0.2.0', prefix_len: 24, profile_id: 2 },
    { ip: '192.0.2.77', prefix_len: 26, profile_id: 3 },
  ],
  nets6: [{ ip: '2001:db8::1', prefix_len: 56, profile_id: 3 }],
};
const OTHER = {
  blockpages: [{ id: 7, type: 0 }],
  profiles: [
    { profile: { id: 1, page_id: 7 }, cat_ids: [3] },
    { profile: { id: 2, white_list_only: true } },
    { profile: { id: 3 } },
    { profile: { id: 4 } },
  ],
  bw_lists: [{ profile_id: 1, type: 'allow', domains: ['example.com'] }],
  napts: [
    { ip: '198.51.100.1', lower_port_bound: 1024, upper_port_bound: 2047, profile_id: 1 },
    { ip: '198.51.100.1', profile_id: 4 },
  ],
  nets: [
    { ip: '192.0.2.0', prefix_len: 24, profile_id: 2 },
    { ip: '192.0.2.64', prefix_len: 26, profile_id: 3 },
  ],
  nets6: [{ ip: '2001:db8::1', prefix_len: 56, profile_id: 3 }],
};
const PATH = '/init/?dry_run=true';
const WAIT = { timeout: 60_000 };

let harness: Harness;
let other: pg.Client;
const call: Harness['call'] = (...args) => harness.call(...args);

/** A digest of every row of every table, and of what is in the temporary ones, beside those that jobs write. */
async function digestOfDatabase(): Promise<unknown> {
  const { rows } = await other.query<{ name: string }>(`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
      AND tablename NOT IN ('job_run', 'catalogue_definition', 'catalogue_source') ORDER BY 1`);
  const digest = `md5(coalesce(string_agg(row::text, chr(10) ORDER BY row::text), ''))`;
  const parts = rows.map(({ name }) => `SELECT '${name}', ${digest} FROM ${name} AS row`);
  return (await other.query(parts.join(' UNION ALL '))).rows;
}

/** Until it is released, a dry run waits for the rows of the IPv6 networks. */
async function holdDryRuns(): Promise<() => Promise<unknown>> {
  await other.query('BEGIN; LOCK TABLE ipv6_network IN ACCESS EXCLUSIVE MODE');
  return () => other.query('ROLLBACK');
}
/** The number of sessions whose last statement reads those rows. @param where of `pg_stat_activity` */
const comparing = async (where = 'true') =>
  (
    await harness.sql(`SELECT FROM pg_stat_activity WHERE datname = current_database()
      AND query LIKE 'COPY % FROM ipv6_network%' AND ${where}`)
  ).length;
const held = () => comparing("wait_event_type = 'Lock'");

describe('POST /init/?dry_run=true', () => {
  beforeAll(async () => {
    harness = await startHarness();
    other = new pg.Client(harness.environment['DATABASE_URL']);
    await other.connect();
  });
  afterAll(async () => {
    await other.end();
    await harness.stop();
  });
  beforeEach(async () => {
    expect((await call('POST', '/init/', EMPTY)).status).toBe(204);
    expect((await call('POST', '/init/', STORED)).status).toBe(204);
  });
  afterEach(() => other.query('ROLLBACK'));

  it('says what would be different, and changes nothing', async () => {
    const before = await digestOfDatabase();
    const answer = await call('POST', PATH, OTHER);
    expect(await digestOfDatabase()).toEqual(before);
    const revision = Number((await call('GET', '/net/')).headers.get('x-config-revision'));
    expect([answer.status, answer.headers.get('x-config-revision')]).toEqual([200, `${revision}`]);
    expect(answer.headers.has('x-config-applied')).toBe(false);
    const none = { added: [], changed: [], removed: [] };
    const same = { added: 0, changed: 0, removed: 0, samples: none };
    const [[hash]] = (await harness.sql('SELECT domain_hash FROM domain_rule')) as [[string]];
    expect(answer.body).toEqual({
      revision,
      resources: {
        blockpages: {
          ...{ added: 0, changed: 1, removed: 1, unchanged: 0 },
          samples: { ...none, changed: [7], removed: [8] },
        },
        profiles: {
          ...{ added: 1, changed: 1, removed: 0, unchanged: 2 },
          samples: { ...none, added: [4], changed: [2] },
        },
        bw_lists: {
          ...{ added: 0, changed: 1, removed: 0, unchanged: 0 },
          samples: { ...none, changed: [{ profile_id: 1, domain_hash: Number(hash) }] },
        },
        napts: {
          ...{ added: 0, changed: 1, removed: 0, unchanged: 1 },
          samples: { ...none, changed: ['198.51.100.1:0-65535'] },
        },
        nets: {
          ...{ added: 1, changed: 0, removed: 1, unchanged: 1 },
          samples: { ...none, added: ['192.0.2.64/26'], removed: ['192.0.2.77/26'] },
        },
        nets6: { ...same, unchanged: 1 },
      },
      // Both ranges, one network that is added, one that is removed, and one of profile 2.
      subscribers_affected: 5,
    });
    expect((await call('POST', '/init/', OTHER)).status).toBe(204);
    const again = await call('POST', PATH, OTHER);
    expect(again.body).toMatchObject({ revision: revision + 1, subscribers_affected: 0 });
  });

  it('counts all, and gives a hundred keys of each as samples', async () => {
    const more = Array.from({ length: 101 }, (_, i) => ({ profile: { id: 1000 + i } }));
    const answer = await call('POST', PATH, { ...STORED, profiles: [...STORED.profiles, ...more] });
    const ids = expect.toSatisfy(
      (all: number[]) => new Set(all).size === 100 && all.length === 100,
    );
    expect(answer.body).toMatchObject({
      resources: { profiles: { added: 101, samples: { added: ids, changed: [], removed: [] } } },
    });
  });

  it('is one only with exactly this parameter', async () => {
    const before = await digestOfDatabase();
    for (const [query, fault] of [
      ['dry_run=true&dry_run=true', 'query.dry_run: duplicate'],
      ['dry_run=true&dry_run=false', 'query.dry_run: duplicate'],
      ['dry_run=1', 'query.dry_run: bool_type'],
      ['dry_run', 'query.dry_run: bool_type'],
      ['dryrun=true', 'query.dryrun: extra_forbidden'],
      ['dry_run=true&after=1', 'query.after: extra_forbidden'],
    ] as const) {
      const answer = await call('POST', `/init/?${query}`, OTHER);
      expect([query, answer.status, faultsOf(answer)]).toEqual([query, 422, [fault]]);
    }
    expect(await digestOfDatabase()).toEqual(before);
    expect((await call('POST', '/init/?dry_run=false', OTHER)).status).toBe(204);
    expect((await call('POST', PATH, OTHER)).body).toMatchObject({ subscribers_affected: 0 });
  });

  it('has the faults of a real one when there is no JSON', async () => {
    for (const body of ['{', '']) {
      const [real, dry] = await Promise.all(
        ['/init/', PATH].map(async (path) => {
          const headers = { ...harness.authorization, 'Content-Type': 'application/json' };
          const answer = await fetch(harness.baseUrl + path, { method: 'POST', headers, body });
          return [answer.status, await answer.json()];
        }),
      );
      expect(dry).toEqual(real);
      expect(dry[0]).toBe(422);
    }
  });

  it('waits for no change, and no change waits for it', async () => {
    const { revision } = (await call('POST', PATH, STORED)).body as { revision: number };
    const writer = new pg.Client(harness.environment['DATABASE_URL']);
    await writer.connect();
    await writer.query('BEGIN; SELECT FROM config_head FOR UPDATE');
    expect((await call('POST', PATH, STORED)).body).toMatchObject({ revision });
    await writer.end();

    const release = await holdDryRuns();
    const running = call('POST', PATH, EMPTY);
    await expect.poll(held, WAIT).toBe(1);
    expect((await call('POST', '/blockpage/', { id: 9, type: 0 })).status).toBe(201);
    expect((await call('POST', '/net/', { ip: '203.0.113.9', profile_id: 1 })).status).toBe(201);
    // Nobody else may start a second one meanwhile.
    const second = await call('POST', PATH, EMPTY);
    expect([second.status, second.headers.get('retry-after')]).toEqual([503, '1']);
    expect(second.body).toEqual({ detail: expect.stringContaining('Another dry run') });
    await release();
    // It is of the revision at which it began.
    expect((await running).body).toMatchObject({
      revision,
      resources: { blockpages: { removed: 2 }, nets: { removed: 2 } },
    });
  });

  it('ends when its client goes away', async () => {
    const release = await holdDryRuns();
    const lines = harness.logLines.length;
    const headers = { ...harness.authorization, 'Content-Type': 'application/json' };
    const sent = request(harness.baseUrl + PATH, { method: 'POST', headers });
    sent.on('error', () => undefined);
    sent.end(JSON.stringify(EMPTY));
    await expect.poll(held, WAIT).toBe(1);
    sent.destroy();
    const cutOff = () => harness.logLines.slice(lines).filter((line) => line.includes('cut_off'));
    await expect.poll(cutOff, WAIT).toHaveLength(1);
    await release();
    // Its session finds out that nobody reads what it sends.
    await expect.poll(() => comparing(), WAIT).toBe(0);
    // 503 until it has ended.
    const next = async () => (await call('POST', PATH, STORED)).body as unknown;
    await expect.poll(next, WAIT).toMatchObject({ subscribers_affected: 0 });
    expect(harness.logLines.slice(lines).join('')).not.toContain('request failed');
  });
});
