import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness, TOKEN } from '../testing/harness.js';
import { actAs, currentOrigin, MAX_RECORDED } from './change-record.js';

const EMPTY = { blockpages: [], profiles: [], bw_lists: [], napts: [], nets: [], nets6: [] };
const SECOND_TOKEN = 'second-token-of-the-tests';
/** More than an `/init/` logs one by one. */
const MANY = 20_200;

describe('every change', () => {
  let harness: Harness;
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const answer = await harness.call(method, path, body, headers);
    expect([path, answer.status]).toEqual([path, expect.toSatisfy((status) => status < 300)]);
    return Number(answer.headers.get('x-config-revision'));
  };
  const recordOf = async (revision: number) => {
    const [[record]] = await harness.sql(
      `SELECT to_jsonb(change_record) FROM change_record WHERE revision = ${revision}`,
    );
    return record as Record<string, unknown>;
  };

  beforeAll(async () => {
    harness = await startHarness();
    await call('POST', '/profiles/', { profile: { id: 7 } });
    await call('POST', '/profiles/', { profile: { id: 8 } });
  });
  afterAll(() => harness.stop());

  it('records who made it by which call, and what it changed', async () => {
    const body = { ip: '192.0.2.77', prefix_len: 24, profile_id: 7 };
    const revision = await call('POST', '/net/', body, { 'X-Request-Id': 'ticket-4711' });
    expect(await recordOf(revision)).toEqual({
      revision,
      created_at: expect.stringMatching(/^20\d\d-/),
      origin: 'api',
      token: 'env-1',
      source: '127.0.0.1',
      request_id: 'ticket-4711',
      method: 'POST',
      route: '/net/',
      keys: [['put', 'ipv4Network', [0xc0_00_02_4d, 24]]],
      key_count: 1,
      profile_ids: [7],
    });
    expect(
      await harness.sql(`
        SELECT count(*) FROM change JOIN change_record USING (revision, created_at) WHERE revision = ${revision}`),
    ).toEqual([['1']]);
  });

  it('concerns the profile that a record belonged to before, too', async () => {
    await call('POST', '/net/', { ip: '198.51.100.1', profile_id: 7 });
    const path = '/net/3325256705';
    expect(await recordOf(await call('PATCH', path, { profile_id: 8 }))).toMatchObject({
      profile_ids: [7, 8],
    });
    expect(await recordOf(await call('DELETE', path))).toMatchObject({
      method: 'DELETE',
      route: '/net/:int_ip',
      keys: [['delete', 'ipv4Network', [3325256705, 32]]],
      profile_ids: [8],
    });
  });

  it('names domains by their hashes only, and no more than a hundred keys', async () => {
    const domains = Array.from({ length: 250 }, (_, i) => `secret-${i}.example`);
    const list = { type: 'deny', domains };
    const revision = await call('POST', '/profile/7/bw_list/batch', list);
    const { keys, key_count: count } = await recordOf(revision);
    expect([(keys as unknown[]).length, count]).toEqual([MAX_RECORDED, 250]);
    const hashes = await harness.sql('SELECT domain_hash::float8 FROM domain_rule');
    const [[, kind, [profile, hash]]] = keys as [[string, string, number[]]];
    expect([kind, profile]).toEqual(['domainRule', 7]);
    expect(hashes.flat()).toContain(hash);

    await call('DELETE', '/profile/7/bw_list/secret-1.example');
    const [[text]] = await harness.sql(
      'SELECT string_agg(change_record::text, $$ $$) FROM change_record',
    );
    expect(text).toContain('/profile/:profile_id/bw_list/:domain');
    expect(text).not.toContain('secret-1');
  });

  it('has its own author when changes are made together', async () => {
    const made = await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const token = i % 2 === 0 ? TOKEN : SECOND_TOKEN;
        const headers = { Authorization: `Bearer ${token}`, 'X-Request-Id': `call-${i}` };
        const revision =
          i % 3 === 0
            ? await call('POST', '/blockpage/', { id: i, type: 0 }, headers)
            : await call('POST', '/net/', { ip: `10.0.0.${i}`, profile_id: 7 }, headers);
        return [revision, `call-${i}`, i % 2 === 0 ? 'env-1' : 'env-2'];
      }),
    );
    const records = await harness.sql(
      "SELECT revision::int, request_id, token FROM change_record WHERE request_id LIKE 'call-%' ORDER BY 1",
    );
    expect(records).toEqual(made.toSorted(([a], [b]) => Number(a) - Number(b)));
  });

  it('has a record when Weir itself makes it', async () => {
    expect(await recordOf(1)).toMatchObject({
      origin: 'catalogue',
      token: null,
      source: null,
      request_id: null,
      method: null,
      route: null,
      keys: [['put', 'catalogue', []]],
      profile_ids: [],
    });
  });

  it('of the whole configuration has a small record', async () => {
    const nets = Array.from({ length: MANY }, (_, i) => ({
      ip: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
      profile_id: 7,
    }));
    const profiles = [{ profile: { id: 7 } }];
    const difference = await call('POST', '/init/', {
      ...EMPTY,
      profiles,
      nets: nets.slice(0, 150),
    });
    const small = await recordOf(difference);
    expect(small).toMatchObject({ route: '/init/', profile_ids: [-1] });
    expect(small['keys']).toHaveLength(MAX_RECORDED);
    expect(small['key_count']).toBeGreaterThan(150);

    const reload = await call('POST', '/init/', { ...EMPTY, profiles, nets });
    expect(await recordOf(reload)).toMatchObject({
      keys: [['reload']],
      key_count: 1,
      profile_ids: [-1],
    });
  });

  it('has a record, and every record its change', async () => {
    // Refused and unchanged calls have none.
    for (const [method, path, body] of [
      ['POST', '/profiles/', { profile: { id: 7 } }],
      ['DELETE', '/net/1', undefined],
      ['GET', '/net/', undefined],
    ] as const) {
      await harness.call(method, path, body);
    }
    const [[changes]] = await harness.sql('SELECT count(*)::int FROM change');
    expect(changes).toBeGreaterThan(60);
    expect(
      await harness.sql(`
        SELECT count(*)::int FROM change JOIN change_record USING (revision, created_at)`),
    ).toEqual([[changes]]);
    expect(await harness.sql('SELECT count(*)::int FROM change_record')).toEqual([[changes]]);
    const profiles = 'SELECT profile_id, revision::int, token FROM change_record_profile';
    const ofRecords = 'SELECT unnest(profile_ids), revision::int, token FROM change_record';
    expect(await harness.sql(`${profiles} ORDER BY 2, 1`)).toEqual(
      await harness.sql(`${ofRecords} ORDER BY 2, 1`),
    );
  });
});

describe('an author', () => {
  it('is known in all functions that the work calls, and nowhere else', async () => {
    const author = { origin: 'repair' } as const;
    const found = actAs(author, async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      return currentOrigin().author;
    });
    expect(() => currentOrigin()).toThrow('a change needs an author');
    expect(await found).toBe(author);
  });
});
