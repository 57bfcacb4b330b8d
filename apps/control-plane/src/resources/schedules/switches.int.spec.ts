import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsOf, type Harness, startHarness } from '../../testing/harness.js';

describe('GET /profile/{profile_id}/switches', () => {
  let harness: Harness;
  const read = async (query: string, profile = 1) => {
    const answer = await harness.call('GET', `/profile/${profile}/switches?${query}`);
    expect([query, answer.status]).toEqual([query, 200]);
    return answer.body as unknown as { from: string; until: string; active_id: number }[];
  };
  const at = (day: string | number, time: string) => ({ day, time });

  beforeAll(async () => {
    harness = await startHarness({ SCHEDULE_TIMEZONE: 'Europe/Berlin' });
    for (const id of [1, 2, 3]) await harness.call('POST', '/profiles/', { profile: { id } });
    // It touches: no switch in between.
    const periods = [
      { start: at('saturday', '20:00'), end: at('sunday', '01:00') },
      { start: at('sunday', '01:00'), end: at('sunday', '02:30') },
    ];
    await harness.call('POST', '/profile/1/schedule', { target_profile_id: 2, periods });
  });
  afterAll(() => harness.stop());

  it('tells which profile is active when, without gaps, over a change to winter time', async () => {
    // 03:00 becomes 02:00 on 25 October: 02:00 to 02:30 comes twice.
    expect(await read('from=2026-10-24T12:00:00%2B02:00&days=2')).toEqual([
      { from: '2026-10-24T12:00:00+02:00', until: '2026-10-24T20:00:00+02:00', active_id: 1 },
      { from: '2026-10-24T20:00:00+02:00', until: '2026-10-25T02:30:00+02:00', active_id: 2 },
      { from: '2026-10-25T02:30:00+02:00', until: '2026-10-25T02:00:00+01:00', active_id: 1 },
      { from: '2026-10-25T02:00:00+01:00', until: '2026-10-25T02:30:00+01:00', active_id: 2 },
      { from: '2026-10-25T02:30:00+01:00', until: '2026-10-26T12:00:00+01:00', active_id: 1 },
    ]);
  });

  it('skips the hour that summer time skips, and counts calendar days', async () => {
    expect(await read('from=2026-03-28T11:00:00Z&days=1')).toEqual([
      { from: '2026-03-28T12:00:00+01:00', until: '2026-03-28T20:00:00+01:00', active_id: 1 },
      { from: '2026-03-28T20:00:00+01:00', until: '2026-03-29T03:00:00+02:00', active_id: 2 },
      { from: '2026-03-29T03:00:00+02:00', until: '2026-03-29T12:00:00+02:00', active_id: 1 },
    ]);
  });

  it('is one stretch from now over seven days without a schedule', async () => {
    const beforeMs = Date.now();
    const [only, ...others] = await read('', 3);
    expect(others).toEqual([]);
    expect(only.active_id).toBe(3);
    const fromMs = Date.parse(only.from);
    expect(fromMs).toBeGreaterThanOrEqual(beforeMs);
    expect(fromMs).toBeLessThanOrEqual(Date.now());
    const wall = (text: string) => text.slice(0, 19);
    const week = Temporal.PlainDateTime.from(wall(only.from)).add({ days: 7 });
    expect(wall(only.until)).toBe(week.toString({ smallestUnit: 'second' }));
  });

  it.each([
    ['/profile/1/switches?days=0', 422, ['query.days: greater_than_equal']],
    ['/profile/1/switches?days=32', 422, ['query.days: less_than_equal']],
    [
      '/profile/1/switches?from=now&to=1',
      422,
      ['query.from: value_error', 'query.to: extra_forbidden'],
    ],
  ])('answers %s with %i', async (path, status, faults) => {
    const answer = await harness.call('GET', path);
    expect([answer.status, faultsOf(answer)]).toEqual([status, faults]);
  });

  it('takes 31 days, and is 404 for a profile that does not exist', async () => {
    expect((await read('days=31')).length).toBeGreaterThan(8);
    const answer = await harness.call('GET', '/profile/9/switches');
    expect([answer.status, answer.body]).toEqual([404, { detail: 'profile 9 not found' }]);
  });
});
