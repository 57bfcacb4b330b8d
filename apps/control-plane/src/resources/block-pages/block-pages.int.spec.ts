import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsOf, type Harness, startHarness } from '../../testing/harness.js';

describe('block pages', () => {
  let harness: Harness;
  const call: Harness['call'] = (...args) => harness.call(...args);

  beforeAll(async () => {
    harness = await startHarness();
    await call('POST', '/blockpage/', { id: 1, type: 0 });
  });
  afterAll(() => harness.stop());

  it('can be created and read', async () => {
    const answer = await call('POST', '/blockpage/', { id: 7, type: 1 });
    expect([answer.status, answer.body]).toEqual([201, { id: 7, type: 1 }]);
    const read = await call('GET', '/blockpage/7');
    expect([read.status, read.body]).toEqual([200, { id: 7, type: 1 }]);
  });

  it('are listed in the order of their ids', async () => {
    await call('POST', '/blockpage/', { id: 10, type: 0 });
    await call('POST', '/blockpage/', { id: 9, type: 0 });
    const { body } = await call('GET', '/blockpage/');
    expect(body).toEqual([
      { id: 1, type: 0 },
      { id: 7, type: 1 },
      { id: 9, type: 0 },
      { id: 10, type: 0 },
    ]);
  });

  it('cannot be created twice', async () => {
    const answer = await call('POST', '/blockpage/', { id: 1, type: 1 });
    expect([answer.status, answer.body]).toEqual([409, { detail: 'block page 1 already exists' }]);
  });

  it.each([
    [{}, ['body.id: missing', 'body.type: missing']],
    [{ id: 2, type: 2 }, ['body.type: enum']],
    [{ id: 2, type: '1' }, ['body.type: int_type']],
    [{ id: 2, type: true }, ['body.type: int_type']],
    [{ id: 2, type: 0, name: 'x' }, ['body.name: extra_forbidden']],
    [{ id: -1, type: 0 }, ['body.id: greater_than_equal']],
  ])('are rejected for %j', async (body, faults) => {
    const answer = await call('POST', '/blockpage/', body);
    expect([answer.status, faultsOf(answer)]).toEqual([422, faults]);
  });

  it('can change their type', async () => {
    await call('POST', '/blockpage/', { id: 20, type: 0 });
    const answer = await call('PATCH', '/blockpage/20', { type: 1 });
    expect([answer.status, answer.body]).toEqual([200, { id: 20, type: 1 }]);
    expect((await call('GET', '/blockpage/20')).body).toEqual({ id: 20, type: 1 });
  });

  it('are changed by a type, and by an id only if it is equal to the path', async () => {
    expect(faultsOf(await call('PATCH', '/blockpage/1', {}))).toEqual(['body.type: missing']);
    expect((await call('PATCH', '/blockpage/1', { id: 1, type: 0 })).status).toBe(200);
    const answer = await call('PATCH', '/blockpage/1', { id: 2, type: 0 });
    expect([answer.status, faultsOf(answer)]).toEqual([422, ['body.id: value_error']]);
  });

  it.each(['GET', 'PATCH', 'DELETE'])(
    'are answered 404 for %s when they do not exist',
    async (method) => {
      const answer = await call(
        method,
        '/blockpage/99',
        method === 'PATCH' ? { type: 0 } : undefined,
      );
      expect([answer.status, answer.body]).toEqual([404, { detail: 'block page 99 not found' }]);
    },
  );

  it.each(['GET', 'PATCH', 'DELETE'])('must have an integer as id for %s', async (method) => {
    const answer = await call(method, '/blockpage/x', method === 'PATCH' ? { type: 0 } : undefined);
    expect([answer.status, faultsOf(answer)]).toEqual([422, ['path.page_id: int_type']]);
  });

  it('can be deleted', async () => {
    await call('POST', '/blockpage/', { id: 30, type: 0 });
    const answer = await call('DELETE', '/blockpage/30');
    expect([answer.status, answer.body]).toEqual([204, undefined]);
    expect((await call('GET', '/blockpage/30')).status).toBe(404);
  });

  it('cannot be deleted while a profile uses them', async () => {
    await call('POST', '/blockpage/', { id: 31, type: 0 });
    await call('POST', '/profiles/', { profile: { id: 5, page_id: 31 } });
    const answer = await call('DELETE', '/blockpage/31');
    expect([answer.status, answer.body]).toEqual([
      409,
      { detail: 'block page 31 is used by profile 5' },
    ]);
    await call('PATCH', '/profiles/5', { profile: { page_id: null } });
    expect((await call('DELETE', '/blockpage/31')).status).toBe(204);
  });
});
