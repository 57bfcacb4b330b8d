import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsOf, type Harness, pluck, startHarness } from '../../testing/harness.js';

describe('profiles', () => {
  let harness: Harness;
  let nextId = 100;
  const call: Harness['call'] = (...args) => harness.call(...args);
  const settings = (id: number) => ({
    id,
    page_id: null,
    white_list_only: false,
    empty_dns_answer: false,
    appaware_priority_over_bwlists: false,
  });
  const create = async (more: Record<string, unknown> = {}) => {
    const id = nextId++;
    const answer = await call('POST', '/profiles/', { profile: { id }, ...more });
    expect(answer.status).toBe(201);
    return id;
  };

  beforeAll(async () => {
    harness = await startHarness();
    await call('POST', '/blockpage/', { id: 7, type: 1 });
  });
  afterAll(() => harness.stop());

  describe('POST /profiles/', () => {
    it('creates a profile with its categories and applications', async () => {
      const profile = { ...settings(1), page_id: 7, white_list_only: true };
      const apps = [{ app_id: 3, status: 'allow' }];
      const sent = { profile, cat_ids: [12], apps };
      const answer = await call('POST', '/profiles/', sent);
      expect([answer.status, answer.body]).toEqual([201, sent]);
      expect((await call('GET', '/profiles/1')).body).toEqual(sent);
    });

    it('uses defaults for omitted fields', async () => {
      const answer = await call('POST', '/profiles/', { profile: { id: 2 } });
      expect([answer.status, answer.body]).toEqual([
        201,
        { profile: settings(2), cat_ids: [], apps: [] },
      ]);
    });

    it('returns categories as an ascending set and applications by id, with status deny by default', async () => {
      const answer = await call('POST', '/profiles/', {
        profile: { id: 3 },
        cat_ids: [9, 2147483647, 9, 0],
        apps: [{ app_id: 10 }, { app_id: 3, status: 'allow' }],
      });
      expect(answer.body).toMatchObject({
        cat_ids: [0, 9, 2147483647],
        apps: [
          { app_id: 3, status: 'allow' },
          { app_id: 10, status: 'deny' },
        ],
      });
    });

    it('answers 409 for an existing id', async () => {
      const id = await create();
      const answer = await call('POST', '/profiles/', { profile: { id } });
      expect([answer.status, answer.body]).toEqual([
        409,
        { detail: `profile ${id} already exists` },
      ]);
    });

    it('reports all unknown references and duplicate applications at once', async () => {
      const answer = await call('POST', '/profiles/', {
        profile: { id: 4, page_id: 8 },
        apps: [{ app_id: 3 }, { app_id: 5 }, { app_id: 3 }],
      });
      expect([answer.status, answer.body]).toEqual([
        422,
        {
          detail: [
            {
              loc: ['body', 'profile', 'page_id'],
              msg: 'Block page 8 does not exist',
              type: 'reference',
            },
            {
              loc: ['body', 'apps', '1', 'app_id'],
              msg: 'The catalogue has no application 5',
              type: 'reference',
            },
            {
              loc: ['body', 'apps', '2', 'app_id'],
              msg: 'Application 3 is a duplicate',
              type: 'duplicate',
            },
          ],
        },
      ]);
      expect((await call('GET', '/profiles/4')).status).toBe(404);
    });

    it('reports every validation fault at once, with its location and type', async () => {
      const answer = await call('POST', '/profiles/', {
        profile: { id: '7', page_id: 1.5, white_list_only: 1, misspelt: true },
        cat_ids: [1, 'x', -1, 2147483648],
        apps: [{ status: 'maybe' }, 5, { app_id: 3, status: null }, null],
        more: 1,
      });
      expect(answer.status).toBe(422);
      expect(faultsOf(answer)).toEqual([
        'body.apps.0.app_id: missing',
        'body.apps.0.status: enum',
        'body.apps.1: object_type',
        'body.apps.2.status: string_type',
        'body.apps.3: object_type',
        'body.cat_ids.1: int_type',
        'body.cat_ids.2: greater_than_equal',
        'body.cat_ids.3: less_than_equal',
        'body.more: extra_forbidden',
        'body.profile.id: int_type',
        'body.profile.misspelt: extra_forbidden',
        'body.profile.page_id: int_type',
        'body.profile.white_list_only: bool_type',
      ]);
    });

    it.each([
      [{}, ['body', 'profile'], 'missing'],
      [{ profile: {} }, ['body', 'profile', 'id'], 'missing'],
      [{ profile: null }, ['body', 'profile'], 'object_type'],
      [{ profile: [] }, ['body', 'profile'], 'object_type'],
      [{ profile: { id: 5 }, cat_ids: null }, ['body', 'cat_ids'], 'list_type'],
      [{ profile: { id: 5 }, apps: { app_id: 3 } }, ['body', 'apps'], 'list_type'],
      [[], ['body'], 'object_type'],
      [null, ['body'], 'object_type'],
    ])('rejects %j', async (body, loc, type) => {
      const answer = await call('POST', '/profiles/', body);
      expect(answer.status).toBe(422);
      expect(answer.body.detail).toEqual([{ loc, type, msg: expect.any(String) }]);
    });
  });

  describe('GET /profiles/', () => {
    it('lists all profiles by id, with and without the trailing slash', async () => {
      await call('POST', '/profiles', { profile: { id: 0 }, apps: [{ app_id: 4 }] });
      const answer = await call('GET', '/profiles/');
      const ids = pluck(answer, (one) => one.profile.id as number);
      expect(answer.status).toBe(200);
      expect(ids.slice(0, 3)).toEqual([0, 1, 2]);
      expect(ids).toEqual(ids.toSorted((a, b) => a - b));
      expect(answer.body[0].apps).toEqual([{ app_id: 4, status: 'deny' }]);
      expect((await call('GET', '/profiles')).body).toEqual(answer.body);
    });
  });

  describe('GET /profiles/{profile_id}', () => {
    it('answers 404 with the profile', async () => {
      const answer = await call('GET', '/profiles/99');
      expect([answer.status, answer.body]).toEqual([404, { detail: 'profile 99 not found' }]);
    });

    it.each([
      ['x', 'int_type'],
      ['-1', 'greater_than_equal'],
      ['2147483648', 'less_than_equal'],
      ['1.5', 'int_type'],
    ])('rejects the id %s', async (id, type) => {
      const answer = await call('GET', `/profiles/${id}`);
      expect(answer.status).toBe(422);
      expect(answer.body.detail).toEqual([
        { loc: ['path', 'profile_id'], type, msg: expect.any(String) },
      ]);
    });
  });

  describe('PATCH /profiles/{profile_id}', () => {
    it('changes the submitted fields and keeps the rest', async () => {
      const id = await create({ cat_ids: [1], apps: [{ app_id: 3 }] });
      const answer = await call('PATCH', `/profiles/${id}`, {
        profile: { page_id: 7, empty_dns_answer: true },
      });
      expect([answer.status, answer.body]).toEqual([
        200,
        {
          profile: { ...settings(id), page_id: 7, empty_dns_answer: true },
          cat_ids: [1],
          apps: [{ app_id: 3, status: 'deny' }],
        },
      ]);
      const again = await call('PATCH', `/profiles/${id}`, { profile: { page_id: null } });
      expect(again.body.profile).toEqual({ ...settings(id), empty_dns_answer: true });
    });

    it('replaces whole collections; an empty array removes all items', async () => {
      const id = await create({ cat_ids: [1, 2], apps: [{ app_id: 3 }, { app_id: 4 }] });
      const replaced = { cat_ids: [5, 2], apps: [{ app_id: 10, status: 'allow' }] };
      expect((await call('PATCH', `/profiles/${id}`, replaced)).body).toMatchObject({
        cat_ids: [2, 5],
        apps: [{ app_id: 10, status: 'allow' }],
      });
      await call('PATCH', `/profiles/${id}`, { cat_ids: [], apps: [] });
      expect((await call('GET', `/profiles/${id}`)).body).toMatchObject({ cat_ids: [], apps: [] });
    });

    it('takes a revision even when it changes nothing', async () => {
      const id = await create();
      const first = await call('PATCH', `/profiles/${id}`, {});
      const second = await call('PATCH', `/profiles/${id}`, {});
      const revision = (answer: typeof first) => Number(answer.headers.get('x-config-revision'));
      expect([first.status, second.status]).toEqual([200, 200]);
      expect(revision(second)).toBe(revision(first) + 1);
    });

    it('accepts an id that is equal to the path, and rejects another', async () => {
      const id = await create();
      expect((await call('PATCH', `/profiles/${id}`, { profile: { id } })).status).toBe(200);
      const answer = await call('PATCH', `/profiles/${id}`, { profile: { id: id + 1 } });
      expect(answer.status).toBe(422);
      expect(answer.body.detail).toEqual([
        { loc: ['body', 'profile', 'id'], type: 'value_error', msg: expect.any(String) },
      ]);
    });

    it('answers 422 for unknown references, but 404 for the profile first', async () => {
      const body = { profile: { page_id: 8 } };
      expect((await call('PATCH', '/profiles/99', body)).status).toBe(404);
      const answer = await call('PATCH', '/profiles/1', body);
      expect([answer.status, answer.body.detail[0].type]).toEqual([422, 'reference']);
    });

    it('reports faults of the path and the body together', async () => {
      const answer = await call('PATCH', '/profiles/x', { cat_ids: 5 });
      expect(faultsOf(answer)).toEqual(['body.cat_ids: list_type', 'path.profile_id: int_type']);
    });
  });
});
