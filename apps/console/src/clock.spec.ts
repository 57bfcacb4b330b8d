import { expect, it } from 'vitest';
import { shownAt, timeOf } from './clock.js';

it.each([
  ['2026-12-31T23:59', 'Europe/Berlin', '2026-12-31T22:59:00.000Z'],
  ['2026-07-01T00:00', 'Europe/Berlin', '2026-06-30T22:00:00.000Z'],
  ['2026-07-01T00:00', 'America/New_York', '2026-07-01T04:00:00.000Z'],
  ['2026-07-01T00:00', 'UTC', '2026-07-01T00:00:00.000Z'],
])('%s on the clocks of %s is %s', (shown, timeZone, time) => {
  expect(timeOf(shown, timeZone)).toBe(time);
  expect(shownAt(time, timeZone)).toBe(shown);
});

it.each([
  ['is left out: an hour later', '2026-03-29T02:30', '2026-03-29T01:30:00.000Z'],
  ['comes just after: as it is', '2026-03-29T03:30', '2026-03-29T01:30:00.000Z'],
  ['comes just before: as it is', '2026-03-29T01:30', '2026-03-29T00:30:00.000Z'],
  ['comes twice: the second one', '2026-10-25T02:30', '2026-10-25T01:30:00.000Z'],
])('about summer time, what %s', (_, shown, time) => {
  expect(timeOf(shown, 'Europe/Berlin')).toBe(time);
});
