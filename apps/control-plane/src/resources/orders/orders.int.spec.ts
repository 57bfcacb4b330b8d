import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEEP_IN_FORCE } from './order-store.js';
import { faultsOf, type Harness, pluck, startHarness } from '../../testing/harness.js';

const TEXTS = { authority: 'District Court of Exampleton', reference: '12 O 345/26' };
const EMPTY = { blockpages: [], profiles: [], bw_lists: [], napts: [], nets: [], nets6: [] };
const UNTIL = '2099-12-31T23:00:00Z';
const HASH = { domain_hash: expect.any(Number) };

describe('orders', () => {
  let harness: Harness;
  let nextId = 100;
  const call: Harness['call'] = (...args) => harness.call(...args);
  const order = (more: Record<string, unknown> = {}) => ({
    id: nextId++,
    domain: 'example.com',
    ...TEXTS,
    ...more,
  });
  /** @returns the id. */
  const create = async (more: Record<string, unknown> = {}): Promise<number> => {
    const body = order(more);
    expect((await call('POST', '/orders/', body)).status).toBe(201);
    return body.id;
  };

  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness.stop());

  it('can be created, with the domain as a hash and without an end', async () => {
    const answer = await call('POST', '/orders/', { id: 7, domain: 'Example.COM.', ...TEXTS });
    expect([answer.status, answer.body]).toEqual([201, { id: 7, ...HASH, ...TEXTS, until: null }]);
    expect(answer.headers.get('x-config-applied')).toBe('0/0');
    const rule = { type: 'deny', domain: 'example.com' };
    await call('POST', '/profiles/', { profile: { id: 1 } });
    const { domain_hash } = (await call('POST', '/profile/1/bw_list', rule)).body;
    expect(answer.body.domain_hash).toBe(domain_hash);
  });

  it('tell when their last change was in force on how many resolvers', async () => {
    const id = await create();
    const { body, headers } = await call('GET', `/orders/${id}`);
    const revision = Number(headers.get('x-config-revision'));
    const inForce = { revision, k: 0, m: 0, at: expect.stringMatching(/^20.*Z$/) };
    expect(body).toEqual({ id, ...HASH, ...TEXTS, until: null, in_force: inForce });
    const answer = await call('PATCH', `/orders/${id}`, {});
    expect(answer.body.in_force).toEqual({ ...inForce, revision: revision + 1 });
    expect((await call('GET', `/orders/${id}`)).body).toEqual(answer.body);
    // It is no part of the digest, nor of what followers get.
    const log = await harness.sql('SELECT operations FROM change');
    expect(JSON.stringify(log)).not.toContain(answer.body.in_force.at);
  });

  it('have the acknowledgement of their last change, never that of an earlier one', async () => {
    const id = await create();
    const first = (await call('GET', `/orders/${id}`)).body.in_force.revision as number;
    await call('PATCH', `/orders/${id}`, { reference: '7 C 11/26' });
    await harness.sql(`UPDATE domain_order SET in_force = NULL WHERE id = ${id}`);
    const afterAcknowledgementOf = async (revision: number) => {
      const inForce = JSON.stringify({ revision, k: 1, m: 1, at: UNTIL });
      const values = KEEP_IN_FORCE.replaceAll('$1', String(id)).replaceAll('$2', `'${inForce}'`);
      await harness.sql(values);
      return (await call('GET', `/orders/${id}`)).body.in_force as unknown;
    };
    expect(await afterAcknowledgementOf(first)).toBeNull();
    expect(await afterAcknowledgementOf(first + 1)).toMatchObject({ revision: first + 1, k: 1 });
  });

  it('are listed by id, also those that have ended', async () => {
    const ended = await create({ until: UNTIL });
    await harness.sql(`UPDATE domain_order SET until = '2020-01-01T00:00:00Z' WHERE id = ${ended}`);
    const answer = await call('GET', '/orders/');
    const ids = pluck(answer, (one) => one.id as number);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(answer.body).toContainEqual({
      ...{ id: ended, ...HASH, ...TEXTS },
      until: '2020-01-01T00:00:00Z',
      in_force: expect.objectContaining({ k: 0, m: 0 }),
    });
    const again = await call('POST', '/orders/', order({ id: ended }));
    expect([again.status, again.body]).toEqual([409, { detail: `order ${ended} already exists` }]);
    expect((await call('DELETE', `/orders/${ended}`)).status).toBe(204);
    expect((await call('POST', '/orders/', order({ id: ended }))).status).toBe(201);
  });

  it('are listed by pages, by a text that they have, and by how they are', async () => {
    await harness.sql('DELETE FROM domain_order');
    const ids = Array.from({ length: 7 }, (_, i) => i * 3);
    for (const id of ids)
      await create({ id, authority: id < 9 ? 'Court A%' : 'Agency Ä', reference: `R_${id}` });
    const states = {
      in_force: '{"k": 2, "m": 2}',
      ended: '{"k": 2, "m": 2}',
      pending: '{"k": 0, "m": 0}',
    };
    for (const [i, [state, inForce]] of Object.entries(states).entries()) {
      const until = state === 'ended' ? `, until = '2020-01-01T00:00:00Z'` : '';
      await harness.sql(
        `UPDATE domain_order SET in_force = in_force || '${inForce}'${until} WHERE id % 9 = ${i * 3}`,
      );
    }
    await harness.sql('UPDATE domain_order SET in_force = NULL WHERE id = 6');
    const found = async (query: string) =>
      pluck(await call('GET', `/orders/${query}`), ({ id }) => id as number);
    expect(await found('')).toEqual(ids);
    expect(await found('?limit=3')).toEqual([0, 3, 6]);
    expect(await found('?limit=3&after=6')).toEqual([9, 12, 15]);
    expect(await found('?limit=3&after=15')).toEqual([18]);
    expect(await found('?search=court%20a%25')).toEqual([0, 3, 6]);
    for (const letter of ['%C3%84', '%C3%A4']) {
      expect(await found(`?search=AGENCY%20${letter}`)).toEqual([9, 12, 15, 18]);
    }
    expect(await found('?search=r_1')).toEqual([12, 15, 18]);
    expect(await found('?search=12')).toEqual([12]);
    expect(await found('?search=nothing')).toEqual([]);
    expect(await found('?state=in_force')).toEqual([0, 9, 18]);
    expect(await found('?state=ended')).toEqual([3, 12]);
    expect(await found('?state=pending')).toEqual([6, 15]);
    expect(await found('?state=pending&search=agency&after=1&limit=5')).toEqual([15]);
  });

  it.each([
    ['limit=0', 'query.limit: greater_than_equal'],
    ['limit=1001', 'query.limit: less_than_equal'],
    ['after=-1', 'query.after: greater_than_equal'],
    ['search=', 'query.search: value_error'],
    ['search=%00', 'query.search: value_error'],
    ['state=held', 'query.state: enum'],
    ['page=2', 'query.page: extra_forbidden'],
  ])('are not listed with ?%s', async (query, fault) => {
    const answer = await call('GET', `/orders/?${query}`);
    expect([answer.status, faultsOf(answer)]).toEqual([422, [fault]]);
  });

  it('of one domain may be several', async () => {
    const [a, b] = [await create(), await create()];
    const hashes = await Promise.all([a, b].map((id) => call('GET', `/orders/${id}`)));
    expect(hashes[0].body.domain_hash).toBe(hashes[1].body.domain_hash);
  });

  it('can change everything but their id', async () => {
    const id = await create({ until: UNTIL });
    const before = (await call('GET', `/orders/${id}`)).body;
    const texts = { authority: 'Zollamt Beispielstadt 🏛', reference: '§ 5' };
    const changed = await call('PATCH', `/orders/${id}`, { id, domain: 'example.net', ...texts });
    expect([changed.status, changed.body]).toEqual([
      200,
      { id, ...HASH, ...texts, until: UNTIL, in_force: expect.anything() },
    ]);
    expect(changed.body.domain_hash).not.toBe(before.domain_hash);
    const endless = await call('PATCH', `/orders/${id}`, { until: null });
    expect(endless.body).toMatchObject({ ...texts, until: null });
    const other = await call('PATCH', `/orders/${id}`, { id: id + 1 });
    expect([other.status, faultsOf(other)]).toEqual([422, ['body.id: value_error']]);
  });

  it('end at a whole second of any zone', async () => {
    const id = await create({ until: '2099-12-31T23:59:59.987+01:00' });
    expect((await call('GET', `/orders/${id}`)).body.until).toBe('2099-12-31T22:59:59Z');
  });

  it.each([
    [{ until: '2020-01-01T00:00:00Z' }, 'body.until: value_error'],
    [{ until: '2099-12-31' }, 'body.until: value_error'],
    [{ until: 4102441200 }, 'body.until: string_type'],
    [{ until: '9999-12-31T23:59:59-12:00' }, 'body.until: value_error'],
    [{ authority: '' }, 'body.authority: value_error'],
    [{ authority: 'a'.repeat(201) }, 'body.authority: value_error'],
    [{ reference: 'a\nb' }, 'body.reference: value_error'],
    [{ reference: 'a\u0000' }, 'body.reference: value_error'],
    [{ reference: '\ud800' }, 'body.reference: value_error'],
    [{ reference: null }, 'body.reference: string_type'],
    [{ domain: '*.example.com' }, 'body.domain: value_error'],
    [{ id: -1 }, 'body.id: greater_than_equal'],
    [{ note: 'x' }, 'body.note: extra_forbidden'],
  ])('are refused with %j', async (more, fault) => {
    const answer = await call('POST', '/orders/', order(more));
    expect([answer.status, faultsOf(answer)]).toEqual([422, [fault]]);
    if ('id' in more) return;
    const id = await create();
    const patched = await call('PATCH', `/orders/${id}`, more);
    expect([patched.status, faultsOf(patched)]).toEqual([422, [fault]]);
  });

  it('have texts of 200 code points, whatever these are', async () => {
    const text = '🏛'.repeat(200);
    const id = await create({ authority: text, reference: `<b>"'&` });
    expect((await call('GET', `/orders/${id}`)).body).toMatchObject({
      authority: text,
      reference: `<b>"'&`,
    });
  });

  it.each(['GET', 'PATCH', 'DELETE'])(
    'are answered 404 for %s when there is none',
    async (method) => {
      const answer = await call(method, '/orders/99', method === 'PATCH' ? {} : undefined);
      expect([answer.status, answer.body]).toEqual([404, { detail: 'order 99 not found' }]);
    },
  );

  it('survive POST /init/, whose dry run does not name them', async () => {
    await create({ until: UNTIL });
    const before = (await call('GET', '/orders/')).body;
    for (const body of [EMPTY, { ...EMPTY, profiles: [{ profile: { id: 1 } }] }]) {
      expect((await call('POST', '/init/', body)).status).toBe(204);
      expect((await call('GET', '/orders/')).body).toEqual(before);
    }
    const dryRun = await call('POST', '/init/?dry_run=true', EMPTY);
    expect(JSON.stringify(dryRun.body)).not.toContain('order');
  });

  it('have records, which name no domain', async () => {
    const id = await create({ domain: 'secret.example' });
    const { changes } = (await call('GET', '/changes/?last=1')).body;
    expect(changes[0].changed).toEqual([{ resource: 'orders', key: id, action: 'set', count: 1 }]);
    const stored = await harness.sql('SELECT to_jsonb(domain_order) FROM domain_order');
    expect(JSON.stringify([stored, changes, harness.logLines])).not.toContain('secret');
  });
});
