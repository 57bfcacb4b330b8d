import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsOf, type Harness, startHarness } from '../../testing/harness.js';

describe('application rules', () => {
  let harness: Harness;
  let nextId = 1;
  const call: Harness['call'] = (...args) => harness.call(...args);
  const profileWith = async (...apps: { app_id: number; status?: string }[]) => {
    const id = nextId++;
    expect((await call('POST', '/profiles/', { profile: { id }, apps })).status).toBe(201);
    return { id, path: `/profile/${id}/app_aware` };
  };

  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness.stop());

  it('refer to applications of the catalogue, which is listed by id', async () => {
    const answer = await call('GET', '/app_aware/application/');
    expect([answer.status, answer.body]).toEqual([
      200,
      [
        { id: 3, name: 'Video' },
        { id: 4, name: 'Chat' },
        { id: 10, name: 'Games' },
      ],
    ]);
    expect(answer.headers.get('x-config-revision')).toMatch(/^\d+$/);
  });

  it('are listed by application', async () => {
    const { id, path } = await profileWith({ app_id: 10 }, { app_id: 3, status: 'allow' });
    const answer = await call('GET', path);
    expect([answer.status, answer.body]).toEqual([
      200,
      [
        { profile_id: id, app_id: 3, status: 'allow' },
        { profile_id: id, app_id: 10, status: 'deny' },
      ],
    ]);
  });

  it('can be added one by one, with status deny by default, and keep the others', async () => {
    const { id, path } = await profileWith({ app_id: 10 });
    const answer = await call('POST', path, { app_id: 3 });
    expect([answer.status, answer.body]).toEqual([
      201,
      { profile_id: id, app_id: 3, status: 'deny' },
    ]);
    expect((await call('GET', `/profiles/${id}`)).body.apps).toEqual([
      { app_id: 3, status: 'deny' },
      { app_id: 10, status: 'deny' },
    ]);
  });

  it('get the submitted status when they exist', async () => {
    const { id, path } = await profileWith({ app_id: 3, status: 'deny' });
    const answer = await call('POST', path, { app_id: 3, status: 'allow' });
    expect([answer.status, answer.body.status]).toEqual([201, 'allow']);
    expect((await call('GET', path)).body).toEqual([
      { profile_id: id, app_id: 3, status: 'allow' },
    ]);
  });

  it('can be added in batches, and are returned in the submitted order without duplicates', async () => {
    const { id, path } = await profileWith({ app_id: 4 });
    const body = { app_ids: [10, 3, 10], status: 'allow' };
    const answer = await call('POST', `${path}/batch`, body);
    expect([answer.status, answer.body]).toEqual([
      201,
      [
        { profile_id: id, app_id: 10, status: 'allow' },
        { profile_id: id, app_id: 3, status: 'allow' },
      ],
    ]);
    const byDefault = await call('POST', `${path}/batch`, { app_ids: [3] });
    expect(byDefault.body).toEqual([{ profile_id: id, app_id: 3, status: 'deny' }]);
    expect((await call('GET', path)).body).toHaveLength(3);
  });

  it('are rejected for unknown applications, with all faults of a batch', async () => {
    const { path } = await profileWith();
    const single = await call('POST', path, { app_id: 5 });
    expect([single.status, faultsOf(single)]).toEqual([422, ['body.app_id: reference']]);
    const batch = await call('POST', `${path}/batch`, { app_ids: [5, 3, 6] });
    expect([batch.status, faultsOf(batch)]).toEqual([
      422,
      ['body.app_ids.0: reference', 'body.app_ids.2: reference'],
    ]);
    expect((await call('GET', path)).body).toEqual([]);
  });

  it.each([
    ['', {}, ['body.app_id: missing']],
    ['', { app_id: '3', status: 'block' }, ['body.app_id: int_type', 'body.status: enum']],
    ['', { app_id: 3, profile_id: 1 }, ['body.profile_id: extra_forbidden']],
    ['/batch', {}, ['body.app_ids: missing']],
    [
      '/batch',
      { app_ids: [3, -1, null] },
      ['body.app_ids.1: greater_than_equal', 'body.app_ids.2: int_type'],
    ],
  ])('are rejected: POST …%s %j', async (suffix, body, faults) => {
    const { path } = await profileWith();
    const answer = await call('POST', path + suffix, body);
    expect([answer.status, faultsOf(answer)]).toEqual([422, faults]);
  });

  it('can be deleted, and then do not exist', async () => {
    const { id, path } = await profileWith({ app_id: 3 }, { app_id: 4 });
    const answer = await call('DELETE', `${path}/3`);
    expect([answer.status, answer.body]).toEqual([204, undefined]);
    expect((await call('GET', path)).body).toEqual([{ profile_id: id, app_id: 4, status: 'deny' }]);
    const again = await call('DELETE', `${path}/3`);
    expect([again.status, again.body]).toEqual([
      404,
      { detail: `application rule 3 of profile ${id} not found` },
    ]);
  });

  it('are answered 404 when the profile does not exist', async () => {
    for (const [method, suffix, body] of [
      ['GET', ''],
      ['POST', '', { app_id: 5 }],
      ['POST', '/batch', { app_ids: [5] }],
      ['DELETE', '/3'],
    ] as const) {
      const answer = await call(method, `/profile/9999/app_aware${suffix}`, body);
      expect([answer.status, answer.body]).toEqual([404, { detail: 'profile 9999 not found' }]);
    }
    const path = await call('DELETE', '/profile/x/app_aware/y');
    expect(faultsOf(path)).toEqual(['path.app_aware_id: int_type', 'path.profile_id: int_type']);
  });
});
