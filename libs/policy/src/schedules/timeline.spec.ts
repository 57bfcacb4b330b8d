import type { Period } from '@weir/config-model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCovered, weekPointAt } from '../testing/wall-clock.js';
import { timelineOf } from './timeline.js';

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const DAYS = 16;

const timesOf = (periods: readonly Period[], zone: string, fromMs: number, untilMs: number) =>
  timelineOf({ profileId: 1, targetProfileId: 2, periods }, zone, { fromMs, untilMs });

describe('timelineOf', () => {
  it('agrees with the wall clock, asked every minute, over changes of the offset', () => {
    const stretches = [
      ['UTC', '2026-01-01T00:00:00Z'],
      ['Europe/Berlin', '2026-03-20T00:00:00Z'],
      ['Europe/Berlin', '2026-10-18T00:00:00Z'],
      ['America/New_York', '2026-10-25T00:00:00Z'],
      ['Australia/Lord_Howe', '2026-03-30T00:00:00Z'],
      ['Africa/Casablanca', '2026-02-09T00:00:00Z'],
      ['Asia/Kathmandu', '2026-05-01T00:00:00Z'],
    ].map(([zone, from]) => {
      const startMs = Date.parse(from);
      const points = Uint16Array.from({ length: DAYS * 1_440 }, (_, i) =>
        weekPointAt(startMs + i * MINUTE, zone),
      );
      return { zone, startMs, points };
    });
    const period = fc
      .record({ start: fc.nat({ max: 335 }), length: fc.integer({ min: 1, max: 336 }) })
      .map(({ start, length }) => ({ start, end: (start + length) % 336 }));
    fc.assert(
      fc.property(
        fc.constantFrom(...stretches),
        fc.array(period, { maxLength: 4 }),
        fc.nat({ max: 5 * 1_440 }),
        fc.integer({ min: 1, max: 10 * 1_440 }),
        ({ zone, startMs, points }, periods, first, length) => {
          const times = timesOf(
            periods,
            zone,
            startMs + first * MINUTE,
            startMs + (first + length) * MINUTE,
          );
          const slow: { fromMs: number; untilMs: number; isInside: boolean }[] = [];
          for (let minute = first; minute < first + length; minute++) {
            const atMs = startMs + minute * MINUTE;
            const isInside = isCovered(periods, points[minute]);
            const last = slow.at(-1);
            if (last?.isInside === isInside) last.untilMs = atMs + MINUTE;
            else slow.push({ fromMs: atMs, untilMs: atMs + MINUTE, isInside });
          }
          expect(times).toEqual(slow);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('is one stretch when there is no switch, however long', () => {
    const fromMs = Date.parse('2026-11-24T12:34:56.789Z');
    const untilMs = fromMs + 31 * DAY;
    expect(timesOf([], 'Europe/Berlin', fromMs, untilMs)).toEqual([
      { fromMs, untilMs, isInside: false },
    ]);
    expect(timesOf([{ start: 3, end: 3 }], 'Europe/Berlin', fromMs, untilMs)).toEqual([
      { fromMs, untilMs, isInside: true },
    ]);
  });
});
