import { FeedClient, Follower } from '@weir/change-feed';
import { Digest, fromRow, toRow } from '@weir/config-model';
import { pino } from 'pino';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FEED_TOKEN, faultsOf, pluck, type Harness, startHarness } from '../testing/harness.js';
import { snapshotLines } from '../testing/snapshot-lines.js';
import { rawRequest } from '../testing/raw-request.js';
import { type Answer } from '../testing/response.js';
import { RowReplica } from '../testing/row-replica.js';

const EMPTY = { blockpages: [], profiles: [], bw_lists: [], napts: [], nets: [], nets6: [] };
const FULL = {
  blockpages: [{ id: 7, type: 1 }],
  profiles: [
    { profile: { id: 2 }, cat_ids: [], apps: [] },
    {
      profile: { id: 1, page_id: 7, white_list_only: true },
      cat_ids: [12, 3, 12],
      apps: [{ app_id: 10 }, { app_id: 3, status: 'allow' }],
    },
  ],
  bw_lists: [
    {
      profile_id: 1,
      type: 'allow',
      domains: ['example.com', 'B\u00fccher.example.', 'Example.com.'],
    },
    { profile_id: 2, type: 'deny', domains: ['example.com'] },
    { domains: [], type: 'deny', profile_id: 2 },
    { profile_id: 1, type: 'allow', domains: ['example.com'] },
  ],
  napts: [
    { ip: '198.51.100.1', lower_port_bound: 1024, upper_port_bound: 2047, profile_id: 1 },
    { ip: '198.51.100.1', profile_id: 2 },
  ],
  nets: [
    { ip: '192.0.2.77', prefix_len: 26, profile_id: 1 },
    { ip: '192.0.2.1', profile_id: 2 },
  ],
  nets6: [{ ip: '2001:DB8:0::77', prefix_len: 56, profile_id: 2 }],
};

let harness: Harness;
const call: Harness['call'] = (...args) => harness.call(...args);
const init = (body: unknown) => call('POST', '/init/', body);
const post = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
  rawRequest(harness.baseUrl, {
    method: 'POST',
    path: '/init/',
    headers: { ...harness.authorization, 'Content-Type': 'application/json', ...headers },
    body,
  });
const revision = (answer: Answer) => Number(answer.headers.get('x-config-revision'));
/** Everything that the API shows of the configuration. */
const contents = async () =>
  Promise.all(
    ['/blockpage/', '/profiles/', '/net/', '/net6/', '/napt/3325256705'].map(
      async (path) => (await call('GET', path)).body as unknown,
    ),
  );
const rules = () => harness.sql('SELECT profile_id, verdict FROM domain_rule ORDER BY 1, 2');

describe('POST /init/', () => {
  beforeAll(async () => {
    harness = await startHarness({ MANAGEMENT_BODY_LIMIT: '200kb' });
  });
  afterAll(() => harness.stop());
  beforeEach(async () => {
    expect((await init(EMPTY)).status).toBe(204);
  });

  it('replaces the whole configuration in one revision', async () => {
    await call('POST', '/profiles/', { profile: { id: 99 } });
    const before = revision(await call('POST', '/net/', { ip: '203.0.113.1', profile_id: 99 }));
    const answer = await init(FULL);
    expect([answer.status, answer.body]).toEqual([204, undefined]);
    expect(revision(answer)).toBe(before + 1);
    expect(answer.headers.get('x-config-applied')).toBe('0/0');
    const settings = { empty_dns_answer: false, appaware_priority_over_bwlists: false };
    expect(await contents()).toEqual([
      [{ id: 7, type: 1 }],
      [
        {
          profile: { id: 1, page_id: 7, white_list_only: true, ...settings },
          cat_ids: [3, 12],
          apps: [
            { app_id: 3, status: 'allow' },
            { app_id: 10, status: 'deny' },
          ],
        },
        {
          profile: { id: 2, page_id: null, white_list_only: false, ...settings },
          cat_ids: [],
          apps: [],
        },
      ],
      [
        { ip: '192.0.2.1', prefix_len: 32, profile_id: 2 },
        { ip: '192.0.2.77', prefix_len: 26, profile_id: 1 },
      ],
      [{ ip: '2001:db8::77', prefix_len: 56, profile_id: 2 }],
      [
        { ip: '198.51.100.1', lower_port_bound: 0, upper_port_bound: 65535, profile_id: 2 },
        { ip: '198.51.100.1', lower_port_bound: 1024, upper_port_bound: 2047, profile_id: 1 },
      ],
    ]);
    expect(await rules()).toEqual([
      [1, 1],
      [1, 1],
      [2, 2],
    ]);
    const path = '/profile/1/bw_list/example.com';
    expect((await call('PATCH', path, { type: 'deny' })).status).toBe(200);
  });

  it('empties the configuration with six empty arrays', async () => {
    await init(FULL);
    expect((await init(EMPTY)).status).toBe(204);
    expect(await contents()).toEqual([[], [], [], [], []]);
    expect(await rules()).toEqual([]);
  });

  it('can be repeated, and later changes continue from it', async () => {
    await init(FULL);
    const first = await contents();
    expect((await init(FULL)).status).toBe(204);
    expect(await contents()).toEqual(first);
    expect((await call('DELETE', '/net/3221225985')).status).toBe(204);
    expect((await call('PATCH', '/profiles/1', { cat_ids: [] })).status).toBe(200);
  });

  it('updates the statistics of PostgreSQL, so that statements are planned again', async () => {
    const sizes = () => harness.sql("SELECT reltuples FROM pg_class WHERE relname = 'profile'");
    await init({ ...EMPTY, profiles: [1, 2].map((id) => ({ profile: { id } })) });
    expect(await sizes()).toEqual([[2]]);
    await init({ ...EMPTY, profiles: [1, 2, 3].map((id) => ({ profile: { id } })) });
    expect(await sizes()).toEqual([[3]]);
  });

  it('keeps the schedules whose profile and target both exist', async () => {
    await init({
      ...FULL,
      profiles: [1, 2, 3, 4].map((id) => ({ profile: { id, page_id: 7 }, apps: [] })),
    });
    const periods = [{ start: { day: 'friday', time: '18:30' }, end: { day: 0, time: '06:00' } }];
    for (const [profile, target] of [
      [1, 2],
      [2, 3],
      [3, 1],
    ]) {
      const path = `/profile/${profile}/schedule`;
      const schedule = { target_profile_id: target, periods };
      expect((await call('POST', path, schedule)).status).toBe(201);
    }
    expect((await init(FULL)).status).toBe(204);
    expect((await call('GET', '/profile/1/schedule')).body).toEqual({
      target_profile_id: 2,
      periods,
    });
    expect((await call('GET', '/profile/2/schedule')).status).toBe(404);
    await init({ ...FULL, profiles: [...FULL.profiles, { profile: { id: 3 } }] });
    expect((await call('GET', '/profile/3/schedule')).status).toBe(404);
  });

  it('leaves a digest of all that is there: schedules and orders that stay, the catalogue, and no grants', async () => {
    await init(FULL);
    await call('POST', '/profile/1/schedule', { target_profile_id: 2, periods: [] });
    await call('POST', '/profile/2/schedule', { target_profile_id: 1, periods: [] });
    const order = { id: 7, domain: 'example.com', authority: 'a court', reference: '1 O 2/26' };
    expect((await call('POST', '/orders/', order)).status).toBe(201);
    const grant = { domain: 'example.com', verdict: 'deny', minutes: 30 };
    expect((await call('POST', '/profile/1/grants', grant)).status).toBe(201);
    await init(FULL);
    expect((await call('GET', '/profile/1/grants')).body).toEqual([]);
    const digest = new Digest();
    const kinds = new Set<string>();
    for (const line of await snapshotLines(harness)) {
      const part = line as { type: string; kind: 'schedule'; rows: never[] };
      if (part.type !== 'rows') continue;
      kinds.add(part.kind);
      for (const row of part.rows) digest.add(part.kind, toRow(part.kind, fromRow(part.kind, row)));
    }
    expect(kinds.size).toBe(9);
    expect(await harness.sql('SELECT digest FROM config_head')).toEqual([[digest.toString()]]);
  });

  it('works for a database user that may not disable foreign key checks', async () => {
    await init(FULL);
    await harness.sql(`
      CREATE ROLE plain LOGIN PASSWORD 'plain';
      GRANT ALL ON ALL TABLES IN SCHEMA public TO plain;
      GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO plain;`);
    const url = new URL(harness.environment['DATABASE_URL']);
    [url.username, url.password] = ['plain', 'plain'];
    const replica = await harness.startReplica({ DATABASE_URL: url.href });
    await call('POST', '/profile/2/schedule', { target_profile_id: 1, periods: [] });
    const other = {
      ...EMPTY,
      blockpages: [{ id: 8, type: 0 }],
      profiles: [{ profile: { id: 1, page_id: 8 } }, { profile: { id: 3 } }],
      nets: [
        { ip: '192.0.2.77', prefix_len: 26, profile_id: 3 },
        { ip: '192.0.2.9', profile_id: 1 },
      ],
    };
    const answer = await rawRequest(`http://127.0.0.1:${replica.managementPort}`, {
      method: 'POST',
      path: '/init/',
      headers: { ...harness.authorization, 'Content-Type': 'application/json' },
      body: JSON.stringify(other),
    });
    expect(answer.status).toBe(204);
    expect((await call('GET', '/blockpage/')).body).toEqual(other.blockpages);
    expect((await call('GET', '/net/')).body).toEqual([
      { ip: '192.0.2.9', prefix_len: 32, profile_id: 1 },
      { ip: '192.0.2.77', prefix_len: 26, profile_id: 3 },
    ]);
    expect(
      pluck(await call('GET', '/profiles/'), ({ profile }): unknown => profile.page_id),
    ).toEqual([8, null]);
    expect(await harness.sql('SELECT FROM schedule')).toEqual([]);
    await replica.stop();
    await harness.sql('DROP OWNED BY plain; DROP ROLE plain');
  });

  describe('rejects an invalid body with the location of each fault', () => {
    const faulty = async (body: unknown, expected: readonly string[]) => {
      await init(FULL);
      const before = await contents();
      const answer = await init(body);
      expect([answer.status, faultsOf(answer)]).toEqual([422, [...expected].sort()]);
      const dryRun = await call('POST', '/init/?dry_run=true', body);
      expect([dryRun.status, dryRun.body]).toEqual([422, answer.body]);
      const head = await call('GET', '/net/');
      expect(await contents()).toEqual(before);
      expect(revision(head)).toBe(revision(await call('GET', '/net/')));
    };

    it.each<[string, unknown, string[]]>([
      ['an empty object', {}, Object.keys(EMPTY).map((list) => `body.${list}: missing`)],
      ['a list too few', { ...EMPTY, nets6: undefined }, ['body.nets6: missing']],
      ['a list too many', { ...EMPTY, schedules: [{}] }, ['body.schedules: extra_forbidden']],
      ['an array', [EMPTY], ['body: object_type']],
      ['null', null, ['body: object_type']],
      [
        'a list that is not a list',
        { ...EMPTY, nets: {}, napts: null },
        ['body.nets: list_type', 'body.napts: list_type'],
      ],
      ['a value that is no object', { ...EMPTY, nets: [7] }, ['body.nets.0: object_type']],
      [
        'a prefix that is too long',
        {
          ...FULL,
          nets: [
            ...FULL.nets,
            ...[33, 9].map((prefix_len) => ({ ip: '10.0.0.0', profile_id: 1, prefix_len })),
          ],
        },
        ['body.nets.2.prefix_len: less_than_equal', 'body.nets.3.prefix_len: greater_than_equal'],
      ],
      [
        'nested faults',
        {
          ...FULL,
          profiles: [
            ...FULL.profiles,
            { profile: { id: '3' }, apps: [{ app_id: 3, status: 'block' }], cat_ids: [1, -1] },
          ],
        },
        [
          'body.profiles.2.profile.id: int_type',
          'body.profiles.2.apps.0.status: enum',
          'body.profiles.2.cat_ids.1: greater_than_equal',
        ],
      ],
      [
        'an unknown field',
        { ...EMPTY, blockpages: [{ id: 1, type: 0, typ: 1 }] },
        ['body.blockpages.0.typ: extra_forbidden'],
      ],
      [
        'invalid domains',
        {
          ...FULL,
          bw_lists: [{ profile_id: 1, type: 'deny', domains: ['example.com', '*.example.com', 5] }],
        },
        ['body.bw_lists.0.domains.1: value_error', 'body.bw_lists.0.domains.2: string_type'],
      ],
      [
        'a list of domains that is not a list',
        { ...FULL, bw_lists: [{ profile_id: 1, type: 'deny', domains: 'example.com' }] },
        ['body.bw_lists.0.domains: list_type'],
      ],
      [
        'a list of domains without its profile',
        { ...FULL, bw_lists: [{ type: 'deny', domains: ['example.com'] }] },
        ['body.bw_lists.0.profile_id: missing'],
      ],
      [
        'a port range with the upper bound below the lower',
        {
          ...FULL,
          napts: [{ ip: '192.0.2.1', lower_port_bound: 2, upper_port_bound: 1, profile_id: 1 }],
        },
        ['body.napts.0.upper_port_bound: greater_than_equal'],
      ],
      [
        'an IPv4-mapped address',
        { ...FULL, nets6: [{ ip: '::ffff:192.0.2.1', profile_id: 1 }] },
        ['body.nets6.0.ip: value_error'],
      ],
      [
        'a duplicate block page',
        {
          ...FULL,
          blockpages: [
            { id: 7, type: 0 },
            { id: 7, type: 0 },
          ],
        },
        ['body.blockpages.1.id: duplicate'],
      ],
      [
        'a duplicate profile',
        { ...FULL, profiles: [...FULL.profiles, { profile: { id: 2 } }] },
        ['body.profiles.2.profile.id: duplicate'],
      ],
      [
        'an unknown block page',
        { ...FULL, blockpages: [] },
        ['body.profiles.1.profile.page_id: reference'],
      ],
      [
        'applications',
        {
          ...FULL,
          profiles: [
            ...FULL.profiles,
            { profile: { id: 3 }, apps: [{ app_id: 3 }, { app_id: 3 }, { app_id: 999 }] },
          ],
        },
        ['body.profiles.2.apps.1.app_id: duplicate', 'body.profiles.2.apps.2.app_id: reference'],
      ],
      [
        'unknown profiles, at each reference',
        { ...FULL, profiles: [FULL.profiles[1]] },
        [
          'body.bw_lists.1.profile_id: reference',
          'body.bw_lists.2.profile_id: reference',
          'body.napts.1.profile_id: reference',
          'body.nets.1.profile_id: reference',
          'body.nets6.0.profile_id: reference',
        ],
      ],
      [
        'a domain with both types',
        {
          ...FULL,
          bw_lists: [
            ...FULL.bw_lists,
            { profile_id: 2, type: 'allow', domains: ['example.net', 'EXAMPLE.com'] },
          ],
        },
        ['body.bw_lists.4.domains.1: duplicate'],
      ],
      [
        'networks that clash',
        {
          ...FULL,
          nets: [
            ...FULL.nets,
            { ip: '192.0.2.1', prefix_len: 24, profile_id: 1 },
            { ip: '192.0.2.64', prefix_len: 26, profile_id: 1 },
          ],
        },
        ['body.nets.2.ip: duplicate', 'body.nets.3.ip: duplicate'],
      ],
      [
        'IPv6 networks that clash',
        {
          ...FULL,
          nets6: [
            ...FULL.nets6,
            { ip: '2001:db8::77', profile_id: 1 },
            { ip: '2001:db8::1', prefix_len: 56, profile_id: 1 },
          ],
        },
        ['body.nets6.1.ip: duplicate', 'body.nets6.2.ip: duplicate'],
      ],
      [
        'port ranges that clash: the later one gets the fault',
        {
          ...FULL,
          napts: [
            ...FULL.napts,
            { ip: '198.51.100.1', lower_port_bound: 2000, upper_port_bound: 3000, profile_id: 1 },
            { ip: '198.51.100.1', profile_id: 1 },
          ],
        },
        ['body.napts.2: duplicate', 'body.napts.3: duplicate'],
      ],
    ])('%s', (_what, body, expected) => faulty(body, expected));

    it('reports at most a hundred faults, and no domain', async () => {
      const domains = Array.from({ length: 150 }, (_, i) => `secret-${i}..example`);
      const answer = await init({ ...FULL, bw_lists: [{ profile_id: 1, type: 'deny', domains }] });
      expect([answer.status, faultsOf(answer).length]).toEqual([422, 100]);
      expect(JSON.stringify(answer.body)).not.toContain('secret');
    });

    it.each(['{', '{"nets":[}', `${JSON.stringify(EMPTY)}x`, '{"nets":[1,]}', '\u0000'])(
      'invalid JSON: %j',
      async (body) => {
        const answer = await post(body);
        expect([answer.status, faultsOf(answer)]).toEqual([422, ['body: json_invalid']]);
      },
    );

    it('duplicate lists', async () => {
      const twice = JSON.stringify(FULL)
        .replace('"nets":[', '"nets":[],"nets":[')
        .replace('"domains":[', '"domains":[],"domains":[');
      const answer = await post(twice);
      expect([answer.status, faultsOf(answer)]).toEqual([
        422,
        ['body.bw_lists.0: duplicate', 'body: duplicate'],
      ]);
    });

    it('a list that is also there as another value', async () => {
      const answer = await post(JSON.stringify(FULL).replace('"nets":[', '"nets":0,"nets":['));
      expect([answer.status, faultsOf(answer)]).toEqual([422, ['body: duplicate']]);
    });

    it('a field that an object has twice', async () => {
      const flag = '"white_list_only":';
      const answer = await post(JSON.stringify(FULL).replace(flag, `${flag}false,${flag}`));
      expect([answer.status, faultsOf(answer)]).toEqual([422, ['body.profiles.1: duplicate']]);
    });

    it('a missing body', async () => {
      const answer = await post('');
      expect([answer.status, faultsOf(answer)]).toEqual([422, ['body: missing']]);
    });
  });

  describe('reads a body in any encoding', () => {
    const text = JSON.stringify(FULL);

    it.each<[string, Uint8Array]>([
      ['gzip', gzipSync(text)],
      ['deflate', deflateSync(text)],
      ['br', brotliCompressSync(text)],
    ])('%s', async (encoding, body) => {
      expect((await post(body, { 'Content-Encoding': encoding })).status).toBe(204);
      expect((await call('GET', '/net/')).body).toHaveLength(2);
    });

    it('chunked, and with a byte order mark', async () => {
      const answer = await post(`\ufeff${text}`, { 'Transfer-Encoding': 'chunked' });
      expect(answer.status).toBe(204);
    });

    it('but not one with a wrong Content-Encoding, or one that is aborted', async () => {
      expect((await post(text, { 'Content-Encoding': 'gzip' })).status).toBe(415);
      expect((await post(text, { 'Content-Encoding': 'compress' })).status).toBe(415);
      const cut = gzipSync(text);
      const answer = await post(cut.subarray(0, cut.length - 20), { 'Content-Encoding': 'gzip' });
      expect(answer.status).toBe(415);
      expect((await post(text, { 'Content-Type': 'text/plain' })).status).toBe(415);
    });

    it('up to the limit, and answers 413 before it reports faults', async () => {
      const long = ' '.repeat(200 * 1024 - Buffer.byteLength(text));
      expect((await post(text + long)).status).toBe(204);
      for (const body of [`${text}${long} `, `{"nets":[7],${' '.repeat(300_000)}`]) {
        expect((await post(body)).status).toBe(413);
        expect((await post(body, { 'Transfer-Encoding': 'chunked' })).status).toBe(413);
        expect((await post(gzipSync(body), { 'Content-Encoding': 'gzip' })).status).toBe(413);
      }
      expect(await call('GET', '/net/')).toMatchObject({ status: 200, body: { length: 2 } });
    });
  });

  it('is loaded by followers, and waits longer for them than other changes', async () => {
    const log = pino({ level: 'silent' });
    const replica = await harness.startReplica({
      PROPAGATION_TIMEOUT_MS: '1',
      INIT_PROPAGATION_TIMEOUT_MS: '60000',
    });
    const target = new RowReplica();
    const follower = new Follower({
      id: 'one',
      kind: 'resolver',
      redisUrl: harness.environment['REDIS_URL'],
      deployment: harness.deployment,
      feed: new FeedClient(harness.feedUrl, () => FEED_TOKEN),
      target,
      log,
    });
    await follower.start();
    const answer = await rawRequest(`http://127.0.0.1:${replica.managementPort}`, {
      method: 'POST',
      path: '/init/',
      headers: { ...harness.authorization, 'Content-Type': 'application/json' },
      body: JSON.stringify(FULL),
    });
    expect([answer.status, answer.headers.get('x-config-applied')]).toEqual([204, '1/1']);
    expect([[target.digest()]]).toEqual(await harness.sql('SELECT digest FROM config_head'));
    await follower.stop();
    await replica.stop();
  });

  it('with many rows does not delay reads and health checks; writes wait for it', async () => {
    const replica = await harness.startReplica({ MANAGEMENT_BODY_LIMIT: '64mb' });
    const url = `http://127.0.0.1:${replica.managementPort}`;
    const nets = Array.from({ length: 60_000 }, (_, i) => ({
      ip: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
      profile_id: 1,
    }));
    const domains = Array.from({ length: 60_000 }, (_, i) => `host-${i}.example.com`);
    const body = {
      ...EMPTY,
      profiles: [{ profile: { id: 1 } }],
      nets,
      bw_lists: [{ profile_id: 1, type: 'deny', domains }],
    };
    const headers = { ...harness.authorization, 'Content-Type': 'application/json' };
    let done = false;
    const running = rawRequest(url, {
      method: 'POST',
      path: '/init/',
      headers,
      body: JSON.stringify(body),
    }).finally(() => (done = true));
    const statuses: number[] = [];
    while (!done) {
      for (const address of [
        `${url}/blockpage/`,
        `http://127.0.0.1:${replica.opsPort}/livez`,
        `http://127.0.0.1:${replica.opsPort}/readyz`,
      ]) {
        statuses.push((await fetch(address, { headers: harness.authorization })).status);
      }
    }
    expect((await running).status).toBe(204);
    // Each that waited for it would be one of three.
    expect(statuses.length).toBeGreaterThan(12);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await harness.sql('SELECT count(*) FROM domain_rule')).toEqual([['60000']]);
    await replica.stop();
  });
});
