import type { Period } from '@weir/config-model';
import { describe, expect, it } from 'vitest';
import { isCovered, weekPointAt } from '../testing/wall-clock.js';
import { WeeklySwitch } from '../testing/weekly-switch.js';
import { ZoneClock } from './zone-clock.js';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
/** In these zones clocks change, and half hours begin, only with a quarter of an hour of UTC. */
const STEADY_MINUTES = 15;
/**
 * The minutes of each quarter of an hour that are asked about: both sides of a switch. Those between have the same
 * state. Near a change of the clocks every minute is asked about.
 */
const ASKED_MINUTES = new Set([0, 1, STEADY_MINUTES - 1]);
const FROM_MS = Date.UTC(2026, 0, 1);
const YEAR_MINUTES = 365 * DAY_MINUTES;
/** Beyond the year, so that its last minutes have a next switch. */
const MARGIN_MINUTES = 16 * DAY_MINUTES;
const MINUTES = YEAR_MINUTES + MARGIN_MINUTES;
const ZONES = ['Europe/London', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'UTC'];

const SUNDAY = 6 * 48;
const SCHEDULES: Readonly<Record<string, readonly Period[]>> = {
  'school nights': [0, 1, 2, 3, 6].map((day) => ({
    start: day * 48 + 42,
    end: ((day + 1) * 48 + 13) % 336,
  })),
  'a long weekend over Sunday midnight': [{ start: 4 * 48 + 36, end: 12 }],
  'the half hours that clocks skip or repeat': [
    { start: SUNDAY + 1, end: SUNDAY + 2 },
    { start: SUNDAY + 3, end: SUNDAY + 4 },
    { start: SUNDAY + 5, end: SUNDAY + 6 },
  ],
  'the hours around them, overlapping and touching': [
    { start: SUNDAY, end: SUNDAY + 3 },
    { start: SUNDAY + 2, end: SUNDAY + 4 },
    { start: SUNDAY + 4, end: SUNDAY + 7 },
  ],
  'all of the week but half an hour': [{ start: SUNDAY + 4, end: SUNDAY + 3 }],
};

/** The half hour of the local week in each quarter of an hour, by Intl. */
function wallClockOf(zone: string): Uint16Array {
  return Uint16Array.from({ length: MINUTES / STEADY_MINUTES }, (_, i) =>
    weekPointAt(FROM_MS + i * STEADY_MINUTES * MINUTE_MS, zone),
  );
}

/** Whether each minute is covered. */
function coverage(wallClock: Uint16Array, periods: readonly Period[]): Uint8Array {
  const inside = new Uint8Array(MINUTES);
  wallClock.forEach((point, i) => {
    const from = i * STEADY_MINUTES;
    inside.fill(Number(isCovered(periods, point)), from, from + STEADY_MINUTES);
  });
  return inside;
}

/** For each minute whether it is within a day of a change of the clocks, by Temporal. */
function nearChanges(zone: string): Uint8Array {
  const near = new Uint8Array(MINUTES);
  let at = Temporal.Instant.fromEpochMilliseconds(FROM_MS).toZonedDateTimeISO(zone);
  for (;;) {
    const change = at.getTimeZoneTransition('next');
    if (change === null) return near;
    const minute = (change.epochMilliseconds - FROM_MS) / MINUTE_MS;
    if (minute >= YEAR_MINUTES) return near;
    near.fill(1, minute - DAY_MINUTES, minute + DAY_MINUTES);
    at = change;
  }
}

/** For each minute the first one after it on the other side. */
function nextSwitches(inside: Uint8Array): Int32Array {
  const next = new Int32Array(inside.length).fill(-1);
  for (let i = inside.length - 2; i >= 0; i--)
    next[i] = inside[i] === inside[i + 1] ? next[i + 1] : i + 1;
  return next;
}

describe.each(ZONES)('a schedule in %s', (zone) => {
  const wallClock = wallClockOf(zone);
  const isNearChange = nearChanges(zone);
  const clock = new ZoneClock(zone);

  it.each(Object.entries(SCHEDULES))(
    '%s: is right in all of a year, and about the next switch',
    (_, periods) => {
      const inside = coverage(wallClock, periods);
      const next = nextSwitches(inside);
      const weekly = new WeeklySwitch(clock, periods);
      const wrong: number[] = [];
      let asked = 0;
      for (let minute = 0; minute < YEAR_MINUTES; minute++) {
        if (isNearChange[minute] === 0 && !ASKED_MINUTES.has(minute % STEADY_MINUTES)) continue;
        asked++;
        // From scratch, as when a resolver starts then: in every minute near a change of the clocks, else now and then.
        if (isNearChange[minute] === 1 || asked % 31 === 0) weekly.putAgain();
        weekly.seek(FROM_MS + minute * MINUTE_MS);
        const isRight =
          weekly.isInside === (inside[minute] === 1) &&
          weekly.untilMs === FROM_MS + next[minute] * MINUTE_MS;
        if (!isRight) wrong.push(minute);
      }
      expect(asked).toBeGreaterThanOrEqual(105_120);
      expect(wrong.slice(0, 10)).toEqual([]);
    },
  );
});
