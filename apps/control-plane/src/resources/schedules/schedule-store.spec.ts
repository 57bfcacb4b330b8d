import { describe, expect, it } from 'vitest';
import { type TimePoint, toPeriod } from './schedule-store.js';

const at = (day: TimePoint['day'], time: string): TimePoint => ({ day, time });

describe('toPeriod', () => {
  it.each([
    ['Monday 00:00 is the first point', at('monday', '00:00'), 0],
    ['Sunday 23:30 is the last', at('sunday', '23:30'), 335],
    ['integers are days from Monday', at(6, '23:30'), 335],
    ['half hours count', at('wednesday', '12:30'), 2 * 48 + 25],
    ["24:00 is the next day's 00:00", at(0, '24:00'), 48],
    ['24:00 on Sunday is where the week begins', at('sunday', '24:00'), 0],
  ])('%s', (_what, point, expected) => {
    expect(toPeriod({ start: point, end: at(3, '00:00') }).start).toBe(expected);
    expect(toPeriod({ start: at(3, '00:00'), end: point }).end).toBe(expected);
  });
});
