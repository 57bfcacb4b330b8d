import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsOf, type Harness, startHarness } from '../testing/harness.js';

describe('GET /profile/{profile_id}/subscribers', () => {
  let harness: Harness;
  const nets = [0, 2, 9, 100].map((i) => ({ ip: `192.0.2.${i}`, prefix_len: 32, profile_id: 1 }));
  const nets6 = ['::102:304', '2001:db8::1', '2001:db8::a', '2001:db8:1::'].map((ip) => ({
    ip,
    prefix_len: 128,
    profile_id: 1,
  }));
  const napts = [
    ['0.0.0.0', 0, 99],
    ['198.51.100.1', 0, 99],
    ['198.51.100.1', 0, 999],
    ['198.51.100.1', 1000, 1999],
    ['198.51.100.20', 0, 99],
  ].map(([ip, lower_port_bound, upper_port_bound]) => ({
    ip,
    lower_port_bound,
    upper_port_bound,
    profile_id: 1,
  }));
  const expected = [
    ...nets.map((one) => ({ kind: 'net', ...one })),
    ...nets6.map((one) => ({ kind: 'net6', ...one })),
    ...napts.map((one) => ({ kind: 'napt', ...one })),
  ];

  beforeAll(async () => {
    harness = await startHarness();
    const other = { ip: '192.0.2.50', prefix_len: 32, profile_id: 2 };
    const answer = await harness.call('POST', '/init/', {
      blockpages: [],
      profiles: [1, 2, 3].map((id) => ({ profile: { id } })),
      bw_lists: [],
      napts,
      nets: [...nets, other],
      nets6,
    });
    expect(answer.status).toBe(204);
  });
  afterAll(() => harness.stop());

  it.each([1, 2, 3, 4, 5, 7, 11, 12, 13])('gives all in pages of %i', async (limit) => {
    const found: object[] = [];
    let query = `limit=${limit}`;
    for (;;) {
      const answer = await harness.call('GET', `/profile/1/subscribers?${query}`);
      expect(answer.status).toBe(200);
      const page = answer.body as { subscribers: object[]; next: string | null };
      expect(page.subscribers.length).toBeLessThanOrEqual(limit);
      found.push(...page.subscribers);
      if (page.next === null) break;
      expect(page.subscribers).toHaveLength(limit);
      query = `limit=${limit}&after=${encodeURIComponent(page.next)}`;
    }
    expect(found).toEqual(expected);
  });

  it('is empty for a profile without any, and 404 without the profile', async () => {
    const empty = await harness.call('GET', '/profile/3/subscribers');
    expect([empty.status, empty.body]).toEqual([200, { subscribers: [], next: null }]);
    const missing = await harness.call('GET', '/profile/9/subscribers');
    expect([missing.status, missing.body]).toEqual([404, { detail: 'profile 9 not found' }]);
  });

  it.each([
    ['limit=0', 'query.limit: greater_than_equal'],
    ['limit=1001', 'query.limit: less_than_equal'],
    ['after=192.0.2', 'query.after: value_error'],
    ['page=2', 'query.page: extra_forbidden'],
  ])('refuses ?%s', async (query, fault) => {
    const answer = await harness.call('GET', `/profile/1/subscribers?${query}`);
    expect([answer.status, faultsOf(answer)]).toEqual([422, [fault]]);
  });
});
