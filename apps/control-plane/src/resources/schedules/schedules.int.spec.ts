import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsOf, type Harness, startHarness } from '../../testing/harness.js';

const period = (startDay: unknown, startTime: unknown, endDay: unknown, endTime: unknown) => ({
  start: { day: startDay, time: startTime },
  end: { day: endDay, time: endTime },
});
const SCHOOL_NIGHTS = [
  period('sunday', '20:00', 'monday', '06:30'),
  period(0, '20:00', 'tuesday', '06:30'),
];

describe('schedules', () => {
  let harness: Harness;
  let nextId = 100;
  const call: Harness['call'] = (...args) => harness.call(...args);
  const profile = async () => {
    const id = nextId++;
    await call('POST', '/profiles/', { profile: { id } });
    return `/profile/${id}/schedule`;
  };
  const scheduled = async (periods: unknown[] = SCHOOL_NIGHTS) => {
    const path = await profile();
    const answer = await call('POST', path, { target_profile_id: 1, periods });
    expect([answer.status, answer.body]).toEqual([201, { target_profile_id: 1, periods }]);
    return path;
  };

  beforeAll(async () => {
    harness = await startHarness();
    for (const id of [1, 2]) await call('POST', '/profiles/', { profile: { id } });
  });
  afterAll(() => harness.stop());

  it('are returned in the submitted form and order', async () => {
    const path = await scheduled();
    const answer = await call('GET', path);
    expect([answer.status, answer.body]).toEqual([
      200,
      { target_profile_id: 1, periods: SCHOOL_NIGHTS },
    ]);
  });

  it.each([
    ['no period at all', []],
    ['a whole day', [period('monday', '00:00', 'monday', '24:00')]],
    ['a weekend over the end of the week', [period('friday', '18:00', 'monday', '06:00')]],
    ['an end on an earlier weekday', [period(4, '18:00', 1, '06:00')]],
    ['the whole week', [period(0, '24:00', 1, '00:00')]],
    [
      'overlapping and adjacent periods',
      [
        period(1, '01:00', 1, '03:00'),
        period(1, '02:00', 1, '03:00'),
        period(1, '03:00', 1, '03:30'),
      ],
    ],
  ])('may have %s', async (_what, periods) => {
    await scheduled(periods);
  });

  it('may have ten thousand periods', async () => {
    const periods = Array.from({ length: 10_000 }, (_, i) =>
      period(i % 7, i % 3 ? '08:30' : '24:00', (i + 3) % 7, '12:00'),
    );
    const path = await scheduled(periods);
    const other = await call('PATCH', path, { target_profile_id: 2 });
    expect(other.body).toEqual({ target_profile_id: 2, periods });
    expect((await call('GET', path)).body).toEqual(other.body);
    expect((await call('DELETE', path)).status).toBe(204);
  });

  it.each([
    ['no end after the start', period(1, '10:00', 1, '10:00'), ['end: value_error']],
    ['an end before the start', period('tuesday', '10:00', 1, '09:30'), ['end: value_error']],
    ['a day in capitals', period('Monday', '10:00', 1, '11:00'), ['start.day: enum']],
    [
      'a day out of range',
      period(-1, '10:00', 7, '11:00'),
      ['end.day: less_than_equal', 'start.day: greater_than_equal'],
    ],
    [
      'an invalid day',
      period(true, '10:00', null, '11:00'),
      ['end.day: string_type', 'start.day: string_type'],
    ],
    ['a time off the half hour', period(1, '10:15', 1, '11:00'), ['start.time: value_error']],
    [
      'an invalid time',
      period(1, '9:00', 1, '24:30'),
      ['end.time: value_error', 'start.time: value_error'],
    ],
    [
      'a time with seconds',
      period(1, '10:00:00', 2, '25:00'),
      ['end.time: value_error', 'start.time: value_error'],
    ],
    ['a number for a time', period(1, 10, 2, '11:00'), ['start.time: string_type']],
    ['no start', { end: { day: 1, time: '10:00' } }, ['start: missing']],
    ['points that are none', { start: 5, end: [] }, ['end: object_type', 'start: object_type']],
    [
      'an incomplete time point',
      { start: { day: 1 }, end: { time: '10:00' } },
      ['end.day: missing', 'start.time: missing'],
    ],
    [
      'an unknown field',
      { ...period(1, '10:00', 1, '11:00'), name: 'x' },
      ['name: extra_forbidden'],
    ],
  ])('are rejected with %s', async (_what, bad, faults) => {
    const path = await profile();
    const periods = [period(1, '10:00', 1, '11:00'), bad];
    const answer = await call('POST', path, { target_profile_id: 1, periods });
    expect([answer.status, faultsOf(answer)]).toEqual([
      422,
      faults.map((fault) => `body.periods.1.${fault}`),
    ]);
  });

  it('need a target that exists and differs from the profile', async () => {
    const path = await profile();
    const unknown = await call('POST', path, { target_profile_id: 9, periods: [] });
    expect([unknown.status, faultsOf(unknown)]).toEqual([
      422,
      ['body.target_profile_id: reference'],
    ]);
    const own = { target_profile_id: nextId - 1, periods: [] };
    const same = await call('POST', path, own);
    expect([same.status, faultsOf(same)]).toEqual([422, ['body.target_profile_id: value_error']]);
    expect(faultsOf(await call('POST', path, {}))).toEqual([
      'body.periods: missing',
      'body.target_profile_id: missing',
    ]);
  });

  it('exist at most once per profile', async () => {
    const path = await scheduled();
    const answer = await call('POST', path, { target_profile_id: 1, periods: [] });
    expect([answer.status, answer.body]).toEqual([
      409,
      { detail: `profile ${nextId - 1} already has a schedule` },
    ]);
  });

  describe('PATCH', () => {
    it('changes the target for all periods', async () => {
      const path = await scheduled();
      const answer = await call('PATCH', path, { target_profile_id: 2 });
      expect([answer.status, answer.body]).toEqual([
        200,
        { target_profile_id: 2, periods: SCHOOL_NIGHTS },
      ]);
    });

    it('replaces all periods', async () => {
      const path = await scheduled();
      const periods = [period('friday', '18:00', 6, '24:00')];
      expect((await call('PATCH', path, { periods })).body).toEqual({
        target_profile_id: 1,
        periods,
      });
      expect((await call('PATCH', path, { periods: [] })).body.periods).toEqual([]);
    });

    it('rejects what POST rejects', async () => {
      const path = await scheduled();
      const bad = await call('PATCH', path, { periods: [period(1, '10:00', 1, '09:00')] });
      expect(faultsOf(bad)).toEqual(['body.periods.0.end: value_error']);
      const unknown = await call('PATCH', path, { target_profile_id: 9 });
      expect(faultsOf(unknown)).toEqual(['body.target_profile_id: reference']);
      const own = await call('PATCH', path, { target_profile_id: nextId - 1 });
      expect(faultsOf(own)).toEqual(['body.target_profile_id: value_error']);
      const empty = await call('PATCH', path, { periods: null });
      expect(faultsOf(empty)).toEqual(['body.periods: list_type']);
    });

    it('changes nothing when the body is empty', async () => {
      const path = await scheduled();
      const answer = await call('PATCH', path, {});
      expect([answer.status, answer.body.periods]).toEqual([200, SCHOOL_NIGHTS]);
    });
  });

  it('are deleted, and then do not exist', async () => {
    const path = await scheduled();
    const answer = await call('DELETE', path);
    expect([answer.status, answer.body]).toEqual([204, undefined]);
    expect((await call('DELETE', path)).status).toBe(404);
  });

  it('are answered 404 when they or their profile do not exist', async () => {
    const path = await profile();
    for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE']] as const) {
      const schedule = await call(method, path, body);
      expect([schedule.status, schedule.body]).toEqual([
        404,
        { detail: `schedule of profile ${nextId - 1} not found` },
      ]);
      const none = await call(method, '/profile/9/schedule', body);
      expect([none.status, none.body]).toEqual([404, { detail: 'profile 9 not found' }]);
    }
    const post = await call('POST', '/profile/9/schedule', { target_profile_id: 9, periods: [] });
    expect(post.status).toBe(404);
  });
});
