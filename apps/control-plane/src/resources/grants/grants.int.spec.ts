import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { faultsOf, type Harness, pluck, startHarness } from '../../testing/harness.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const allow = (domain: string, minutes = 30) => ({ domain, verdict: 'allow', minutes });
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

describe('grants', () => {
  let harness: Harness;
  const call: Harness['call'] = (...args) => harness.call(...args);
  const post = (body: unknown, profile = 1) => call('POST', `/profile/${profile}/grants`, body);
  const list = (profile = 1) => call('GET', `/profile/${profile}/grants`);

  beforeAll(async () => {
    harness = await startHarness();
    for (const id of [1, 2]) await call('POST', '/profiles/', { profile: { id } });
  });
  afterAll(() => harness.stop());
  beforeEach(() => harness.sql('DELETE FROM domain_grant'));

  it('hold for so many minutes, with the domain as a hash', async () => {
    const beforeS = Math.floor(Date.now() / 1_000);
    const answer = await post(allow('Games.Example.', 45));
    const afterS = Math.floor(Date.now() / 1_000);
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        id: answer.body.domain_hash,
        profile_id: 1,
        domain_hash: expect.any(Number),
        verdict: 'allow',
        until: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      },
    ]);
    const untilS = Date.parse(answer.body.until as string) / 1_000 - 45 * 60;
    expect(untilS).toBeGreaterThanOrEqual(beforeS);
    expect(untilS).toBeLessThanOrEqual(afterS);
    const rule = { type: 'deny', domain: 'games.example' };
    const { domain_hash } = (await call('POST', '/profile/1/bw_list', rule)).body;
    expect(answer.body.domain_hash).toBe(domain_hash);
  });

  it('hold until a whole second', async () => {
    const until = inMs(DAY_MS);
    const answer = await post({ domain: 'example.com', verdict: 'deny', until });
    expect(answer.body).toMatchObject({
      verdict: 'deny',
      until: until.replace(/\.\d+Z$/, 'Z'),
    });
  });

  it('replace that of the same domain, which keeps its id', async () => {
    const { id } = (await post(allow('example.com'))).body;
    const again = await post({ domain: 'example.com', verdict: 'deny', minutes: 5 });
    expect([again.status, again.body.id]).toEqual([201, id]);
    expect((await list()).body).toEqual([again.body]);
  });

  it('are listed by their end while they hold, those of one profile', async () => {
    await post(allow('a.example', 30));
    await post(allow('b.example', 10));
    await post(allow('c.example', 20));
    const ended = (await post(allow('d.example', 5))).body;
    await post(allow('e.example', 5), 2);
    await harness.sql(
      `UPDATE domain_grant SET until = now() - interval '1 minute' WHERE domain_hash = ${String(ended.id)}`,
    );
    const answer = await list();
    const ends = pluck(answer, ({ until }) => until as string);
    expect([answer.status, ends.length]).toEqual([200, 3]);
    expect(ends).toEqual(ends.toSorted());
  });

  it.each([1, 2, 3, 4, 5, 1_000])('are listed in pages of %i, each once', async (limit) => {
    // Three end at the same time.
    const until = inMs(DAY_MS);
    for (const domain of ['a.example', 'b.example', 'c.example'])
      await post({ domain, verdict: 'deny', until });
    await post(allow('d.example', 10));
    await post(allow('e.example', 44_640));
    await post(allow('f.example', 10), 2);
    const found: unknown[] = [];
    for (let query = `limit=${limit}`; ;) {
      const answer = await call('GET', `/profile/1/grants?${query}`);
      const page = answer.body as unknown as { id: number; until: string }[];
      expect(page.length).toBeLessThanOrEqual(limit);
      found.push(...page);
      if (page.length < limit) break;
      const last = page[limit - 1];
      query = `limit=${limit}&after=${encodeURIComponent(`${last.until},${last.id}`)}`;
    }
    expect(found).toHaveLength(5);
    expect(found).toEqual((await list()).body);
  });

  it.each([
    ['limit=0', 'query.limit: greater_than_equal'],
    ['limit=1001', 'query.limit: less_than_equal'],
    ['after=7', 'query.after: value_error'],
    ['after=2026-11-24T12:30:00Z,x', 'query.after: value_error'],
    ['after=2026-11-24T12:30:00Z,9999999999999999', 'query.after: value_error'],
    ['after=2026-11-24_12:30:00x,7', 'query.after: value_error'],
    ['page=2', 'query.page: extra_forbidden'],
  ])('are not listed with ?%s', async (query, fault) => {
    const answer = await call('GET', `/profile/1/grants?${query}`);
    expect([answer.status, faultsOf(answer)]).toEqual([422, [fault]]);
  });

  it('can be read one by one while they hold', async () => {
    const { body } = await post(allow('example.com'));
    const path = `/profile/1/grants/${String(body.id)}`;
    const answer = await call('GET', path);
    expect([answer.status, answer.body]).toEqual([200, body]);
    const none = { detail: `grant ${String(body.id)} of profile 2 not found` };
    expect((await call('GET', `/profile/2/grants/${String(body.id)}`)).body).toEqual(none);
    await harness.sql(`UPDATE domain_grant SET until = now() - interval '1 second'`);
    expect((await call('GET', path)).status).toBe(404);
  });

  it('can be ended', async () => {
    const { id } = (await post(allow('example.com'))).body;
    const path = `/profile/1/grants/${String(id)}`;
    expect((await call('DELETE', `/profile/2/grants/${String(id)}`)).status).toBe(404);
    expect((await call('DELETE', path)).status).toBe(204);
    expect((await list()).body).toEqual([]);
    const again = await call('DELETE', path);
    expect(again.body).toEqual({ detail: `grant ${String(id)} of profile 1 not found` });
  });

  it('are of profiles that exist', async () => {
    const none = { detail: 'profile 9 not found' };
    expect((await post(allow('example.com'), 9)).body).toEqual(none);
    expect((await list(9)).body).toEqual(none);
    for (const method of ['GET', 'DELETE'])
      expect((await call(method, '/profile/9/grants/1')).body).toEqual(none);
  });

  it.each([
    [{ minutes: 0 }, 'body.minutes: greater_than_equal'],
    [{ minutes: 44_641 }, 'body.minutes: less_than_equal'],
    [{ minutes: 1.5 }, 'body.minutes: int_type'],
    [{ minutes: undefined }, 'body.minutes: missing'],
    [{ until: inMs(DAY_MS) }, 'body.until: value_error'],
    [{ minutes: undefined, until: inMs(-MINUTE_MS) }, 'body.until: value_error'],
    [{ minutes: undefined, until: inMs(32 * DAY_MS) }, 'body.until: value_error'],
    [{ minutes: undefined, until: null }, 'body.until: string_type'],
    [{ domain: '192.0.2.1' }, 'body.domain: value_error'],
    [{ verdict: 'maybe' }, 'body.verdict: enum'],
    [{ id: 7 }, 'body.id: extra_forbidden'],
  ])('are refused with %j', async (more, fault) => {
    const answer = await post({ ...allow('example.com'), ...more });
    expect([answer.status, faultsOf(answer)]).toEqual([422, [fault]]);
  });

  it('are refused with all that is wrong', async () => {
    const faults = ['body.domain: missing', 'body.minutes: missing', 'body.verdict: missing'];
    expect(faultsOf(await post({}))).toEqual(faults);
  });

  it('name no domain in the database and in the log', async () => {
    await post(allow('secret.example'));
    const stored = await harness.sql('SELECT to_jsonb(domain_grant) FROM domain_grant');
    expect(JSON.stringify([stored, harness.logLines])).not.toContain('secret');
  });
});
