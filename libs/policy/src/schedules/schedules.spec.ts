import { type Period } from '@weir/config-model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCovered, weekPointAt } from '../testing/wall-clock.js';
import { WeeklySwitch } from '../testing/weekly-switch.js';
import { ZoneClock } from './zone-clock.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MONDAY = 0;
const FRIDAY = 4;
const SUNDAY = 6;

function point(day: number, hour: number, minute = 0): number {
  return day * 48 + hour * 2 + minute / 30;
}

/** What a schedule says at an instant: inside, and when it ends. */
function seek(periods: readonly Period[], at: string, timeZone: string): [boolean, string | null] {
  const weekly = new WeeklySwitch(new ZoneClock(timeZone), periods);
  weekly.seek(Date.parse(at));
  const { isInside, untilMs } = weekly;
  return [isInside, Number.isFinite(untilMs) ? new Date(untilMs).toISOString().slice(0, 16) : null];
}

describe('ScheduleLookup', () => {
  it('is half-open: inside from the start, outside from the end', () => {
    const weekly = [{ start: point(MONDAY, 8), end: point(MONDAY, 12) }];
    expect(seek(weekly, '2026-03-02T07:59:59.999Z', 'UTC')).toEqual([false, '2026-03-02T08:00']);
    expect(seek(weekly, '2026-03-02T08:00:00Z', 'UTC')).toEqual([true, '2026-03-02T12:00']);
    expect(seek(weekly, '2026-03-02T11:59:59.999Z', 'UTC')).toEqual([true, '2026-03-02T12:00']);
    expect(seek(weekly, '2026-03-02T12:00:00Z', 'UTC')).toEqual([false, '2026-03-09T08:00']);
  });

  it.each(['UTC', 'America/St_Johns'])('knows the weekdays of the first century in %s', (zone) => {
    const weekly = [{ start: point(MONDAY, 0), end: point(MONDAY, 24) }];
    const [isInside, until] = seek(weekly, '0050-01-05T12:00:00Z', zone);
    expect(isInside).toBe(false);
    expect(until).toMatch(/^0050-01-10T/);
  });

  it('wraps over Sunday midnight', () => {
    const weekly = [{ start: point(FRIDAY, 18), end: point(MONDAY, 6) }];
    expect(seek(weekly, '2026-03-08T23:59:00Z', 'UTC')).toEqual([true, '2026-03-09T06:00']);
    expect(seek(weekly, '2026-03-05T00:00:00Z', 'UTC')).toEqual([false, '2026-03-06T18:00']);
  });

  it('does not switch between periods that overlap or touch', () => {
    const weekly = [
      { start: point(MONDAY, 8), end: point(MONDAY, 12) },
      { start: point(MONDAY, 11), end: point(MONDAY, 14) },
      { start: point(MONDAY, 14), end: point(MONDAY, 15, 30) },
    ];
    expect(seek(weekly, '2026-03-02T09:00:00Z', 'UTC')).toEqual([true, '2026-03-02T15:30']);
  });

  it('never switches when there is no period, or one that is the whole week', () => {
    expect(seek([], '2026-03-02T09:00:00Z', 'UTC')).toEqual([false, null]);
    expect(seek([{ start: 17, end: 17 }], '2026-03-02T09:00:00Z', 'UTC')).toEqual([true, null]);
  });

  it('uses the local time of the zone', () => {
    const weekly = [{ start: point(MONDAY, 8), end: point(MONDAY, 12) }];
    expect(seek(weekly, '2026-03-02T02:14:00Z', 'Asia/Kathmandu')).toEqual([
      false,
      '2026-03-02T02:15',
    ]);
    expect(seek(weekly, '2026-03-02T17:30:00Z', 'America/Los_Angeles')).toEqual([
      true,
      '2026-03-02T20:00',
    ]);
  });

  it('is inside both times when a period occurs twice as the clock is put back', () => {
    // 2026-10-25 in Berlin: 03:00 becomes 02:00 at 01:00 UTC.
    const weekly = [{ start: point(SUNDAY, 2), end: point(SUNDAY, 2, 30) }];
    expect(seek(weekly, '2026-10-25T00:15:00Z', 'Europe/Berlin')).toEqual([
      true,
      '2026-10-25T00:30',
    ]);
    expect(seek(weekly, '2026-10-25T00:45:00Z', 'Europe/Berlin')).toEqual([
      false,
      '2026-10-25T01:00',
    ]);
    expect(seek(weekly, '2026-10-25T01:15:00Z', 'Europe/Berlin')).toEqual([
      true,
      '2026-10-25T01:30',
    ]);
    expect(seek(weekly, '2026-10-25T01:30:00Z', 'Europe/Berlin')).toEqual([
      false,
      '2026-11-01T01:00',
    ]);
  });

  it('is never inside a period that the clock skips', () => {
    // 2026-03-29 in Berlin: 02:00 becomes 03:00 at 01:00 UTC.
    const weekly = [{ start: point(SUNDAY, 2), end: point(SUNDAY, 3) }];
    expect(seek(weekly, '2026-03-29T00:59:59Z', 'Europe/Berlin')).toEqual([
      false,
      '2026-04-05T00:00',
    ]);
    expect(seek(weekly, '2026-03-29T01:00:00Z', 'Europe/Berlin')).toEqual([
      false,
      '2026-04-05T00:00',
    ]);
  });

  it('starts a period at the moment when the clock jumps into it', () => {
    const weekly = [{ start: point(SUNDAY, 2, 30), end: point(SUNDAY, 5) }];
    expect(seek(weekly, '2026-03-29T00:30:00Z', 'Europe/Berlin')).toEqual([
      false,
      '2026-03-29T01:00',
    ]);
    expect(seek(weekly, '2026-03-29T01:00:00Z', 'Europe/Berlin')).toEqual([
      true,
      '2026-03-29T03:00',
    ]);
  });

  it('finds the state again when the system clock is set back', () => {
    const periods = [{ start: point(MONDAY, 8), end: point(MONDAY, 12) }];
    const weekly = new WeeklySwitch(new ZoneClock('UTC'), periods);
    weekly.seek(Date.parse('2026-03-02T09:00:00Z'));
    weekly.seek(Date.parse('2026-03-02T07:00:00Z'));
    expect(weekly.isInside).toBe(false);
    expect(weekly.untilMs).toBe(Date.parse('2026-03-02T08:00:00Z'));
  });

  it('agrees with the wall clock, asked every quarter of an hour, around changes of the offset', () => {
    const zones: readonly [string, string][] = [
      ['UTC', '2026-01-01T00:00:00Z'],
      ['Europe/Berlin', '2026-03-26T00:00:00Z'],
      ['Europe/Berlin', '2026-10-22T00:00:00Z'],
      ['America/New_York', '2026-10-29T00:00:00Z'],
      ['Australia/Lord_Howe', '2026-04-02T00:00:00Z'],
      ['Australia/Lord_Howe', '2026-10-01T00:00:00Z'],
      ['Africa/Casablanca', '2026-02-12T00:00:00Z'],
      ['America/St_Johns', '2026-03-05T00:00:00Z'],
      ['Asia/Kathmandu', '2026-05-01T00:00:00Z'],
      ['Pacific/Apia', '2011-12-27T00:00:00Z'],
    ];
    const clocks = new Map(zones.map(([zone]) => [zone, new ZoneClock(zone)]));
    const period = fc
      .record({ start: fc.nat({ max: 335 }), length: fc.integer({ min: 1, max: 336 }) })
      .map(({ start, length }) => ({ start, end: (start + length) % 336 }));
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.array(period, { maxLength: 4 }),
        fc.nat({ max: 6 * DAY }),
        ([zone, from], periods, sinceMs) => {
          const weekly = new WeeklySwitch(clocks.get(zone)!, periods);
          const nowMs = Date.parse(from) + sinceMs;
          weekly.seek(nowMs);
          const isInside = (atMs: number) => isCovered(periods, weekPointAt(atMs, zone));
          const inside = isInside(nowMs);
          expect(weekly.isInside).toBe(inside);
          const quarter = 15 * MINUTE;
          let next = Number.POSITIVE_INFINITY;
          for (
            let at = Math.ceil((nowMs + 1) / quarter) * quarter;
            at < nowMs + 9 * DAY;
            at += quarter
          ) {
            if (isInside(at) !== inside) {
              next = at;
              break;
            }
          }
          if (next === Number.POSITIVE_INFINITY)
            expect(weekly.untilMs).toBeGreaterThan(nowMs + 8 * DAY);
          else expect(weekly.untilMs).toBe(next);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('ZoneClock', () => {
  it('refuses a zone that does not exist', () => {
    expect(() => new ZoneClock('Europe/Nowhere')).toThrow(RangeError);
  });

  it('finds the changes of the offset to the second', () => {
    const clock = new ZoneClock('Europe/Berlin');
    clock.seek(Date.parse('2026-03-20T12:00:00.500Z'));
    expect(clock.offsetMs).toBe(HOUR);
    expect(clock.untilMs).toBe(Date.parse('2026-03-29T01:00:00Z'));
    clock.seek(clock.untilMs);
    expect(clock.offsetMs).toBe(2 * HOUR);
    expect(clock.untilMs).toBe(Date.parse('2026-10-25T01:00:00Z'));
  });

  it('knows that a zone without summer time will not change', () => {
    const clock = new ZoneClock('Asia/Kolkata');
    clock.seek(Date.parse('2026-03-20T12:00:00Z'));
    expect(clock.offsetMs).toBe(5.5 * HOUR);
    expect(clock.untilMs).toBe(Number.POSITIVE_INFINITY);
  });
});
