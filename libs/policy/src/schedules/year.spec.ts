import type { Period } from '@weir/config-model';
import { describe, expect, it } from 'vitest';
import { isCovered, weekPointAt } from '../testing/wall-clock.js';
import { WeeklySwitch } from '../testing/weekly-switch.js';
import { ZoneClock } from './zone-clock.js';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
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

/** The half hour of the local week at each minute, by Temporal. */
function wallClockOf(zone: string): Uint16Array {
  return Uint16Array.from({ length: MINUTES }, (_, i) =>
    weekPointAt(FROM_MS + i * MINUTE_MS, zone),
  );
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
  const clock = new ZoneClock(zone);

  it.each(Object.entries(SCHEDULES))(
    '%s: is right in every minute of a year, and about the next switch',
    (_, periods) => {
      const inside = Uint8Array.from(wallClock, (point) => Number(isCovered(periods, point)));
      const next = nextSwitches(inside);
      const weekly = new WeeklySwitch(clock, periods);
      const wrong: number[] = [];
      let minutes = 0;
      for (let minute = 0; minute < YEAR_MINUTES; minute++, minutes++) {
        // Every seventh minute from scratch, as when a resolver starts then: the search may begin anywhere.
        if (minute % 7 === 0) weekly.putAgain();
        weekly.seek(FROM_MS + minute * MINUTE_MS);
        const isRight =
          weekly.isInside === (inside[minute] === 1) &&
          weekly.untilMs === FROM_MS + next[minute] * MINUTE_MS;
        if (!isRight) wrong.push(minute);
      }
      expect(minutes).toBe(525_600);
      expect(wrong.slice(0, 10)).toEqual([]);
    },
    60_000,
  );
});
