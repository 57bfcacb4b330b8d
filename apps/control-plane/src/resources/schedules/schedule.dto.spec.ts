import 'reflect-metadata';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { read } from '../../http/validation/reader.js';
import { toPeriod, WEEKDAYS } from './schedule-store.js';
import { ScheduleDto } from './schedule.dto.js';

const HALF_HOURS_A_DAY = 48;
const WEEK = 7 * HALF_HOURS_A_DAY;

const time = fc.integer({ min: 0, max: HALF_HOURS_A_DAY }).map((halfHours) => {
  const pad = (value: number) => String(value).padStart(2, '0');
  return { halfHours, text: `${pad(Math.floor(halfHours / 2))}:${halfHours % 2 ? '30' : '00'}` };
});
const point = fc
  .tuple(fc.integer({ min: 0, max: 6 }), fc.boolean(), time)
  .map(([day, named, at]) => ({
    day,
    halfHours: at.halfHours,
    sent: { day: named ? WEEKDAYS[day] : day, time: at.text },
  }));

/** The half hours of a period, one by one from its start to its end. */
function walk(
  start: { day: number; halfHours: number },
  end: { day: number; halfHours: number },
): Set<number> {
  const covered = new Set<number>();
  const goal = (end.day * HALF_HOURS_A_DAY + end.halfHours) % WEEK;
  let at = (start.day * HALF_HOURS_A_DAY + start.halfHours) % WEEK;
  do {
    covered.add(at);
    at = (at + 1) % WEEK;
  } while (at !== goal);
  return covered;
}

describe('a period', () => {
  it('is rejected exactly when it ends on the weekday of its start, but not after it', () => {
    fc.assert(
      fc.property(point, point, (start, end) => {
        const { faults } = read(ScheduleDto, {
          target_profile_id: 1,
          periods: [{ start: start.sent, end: end.sent }],
        });
        const wrong = start.day === end.day && end.halfHours <= start.halfHours;
        expect(faults.map(({ loc, type }) => `${loc.join('.')}: ${type}`)).toEqual(
          wrong ? ['periods.0.end: value_error'] : [],
        );
      }),
    );
  });

  it('covers each half hour from its start to its end, also over Sunday midnight', () => {
    fc.assert(
      fc.property(point, point, (start, end) => {
        fc.pre(!(start.day === end.day && end.halfHours <= start.halfHours));
        const period = toPeriod({ start: start.sent, end: end.sent });
        const covered = walk(start, end);
        for (let at = 0; at < WEEK; at++) {
          const inside =
            period.start < period.end
              ? at >= period.start && at < period.end
              : at >= period.start || at < period.end;
          expect([at, inside]).toEqual([at, covered.has(at)]);
        }
      }),
      { numRuns: 50 },
    );
  });
});
