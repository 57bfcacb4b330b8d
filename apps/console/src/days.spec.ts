import { expect, it } from 'vitest';
import { daysOf } from './clock.js';

it('cuts the time of an active profile at midnight, by the clock of its place', () => {
  const days = daysOf([
    { from: '2026-11-24T18:00:00+01:00', until: '2026-11-26T06:00:00+01:00', active_id: 2 },
    { from: '2026-11-26T06:00:00+01:00', until: '2026-11-26T12:00:00+01:00', active_id: 1 },
  ]);
  expect(
    [...days].map(([ms, segments]) => [new Date(ms).toISOString().slice(0, 10), segments]),
  ).toEqual([
    ['2026-11-24', [{ activeId: 2, from: 0.75, until: 1 }]],
    ['2026-11-25', [{ activeId: 2, from: 0, until: 1 }]],
    [
      '2026-11-26',
      [
        { activeId: 2, from: 0, until: 0.25 },
        { activeId: 1, from: 0.25, until: 0.5 },
      ],
    ],
  ]);
});

it('gives the day on which clocks change its usual length', () => {
  const [[, segments]] = daysOf([
    { from: '2026-10-25T00:00:00+02:00', until: '2026-10-25T12:00:00+01:00', active_id: 1 },
  ]);
  expect(segments).toEqual([{ activeId: 1, from: 0, until: 0.5 }]);
});

it('gives a period that ends by the clock before it begins, as summer time ends, no negative length', () => {
  const [[, segments]] = daysOf([
    { from: '2026-10-25T02:45:00+02:00', until: '2026-10-25T02:15:00+01:00', active_id: 2 },
    { from: '2026-10-25T02:15:00+01:00', until: '2026-10-25T12:00:00+01:00', active_id: 1 },
  ]);
  expect(segments).toEqual([
    { activeId: 2, from: 2.75 / 24, until: 2.75 / 24 },
    { activeId: 1, from: 2.25 / 24, until: 0.5 },
  ]);
});
