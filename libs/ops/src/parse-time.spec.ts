import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDate, parseTime } from './parse-time.js';

const iso = (text: string) => {
  const timeMs = parseTime(text);
  return Number.isNaN(timeMs) ? null : new Date(timeMs).toISOString();
};

describe('parseTime', () => {
  it.each([
    // What programs print: JavaScript, Python, Go, Java, GNU date, PostgreSQL.
    ['2026-11-23T15:20:00.123Z', '2026-11-23T15:20:00.123Z'],
    ['2026-11-23T15:20:00.123456+00:00', '2026-11-23T15:20:00.123Z'],
    ['2026-11-23T15:20:00.123456789+01:00', '2026-11-23T14:20:00.123Z'],
    ['2026-11-23T15:20:00Z', '2026-11-23T15:20:00.000Z'],
    ['2026-11-23 15:20:00+01:00', '2026-11-23T14:20:00.000Z'],
    ['2026-11-23 15:20:00.1-08:00', '2026-11-23T23:20:00.100Z'],
    // The examples of RFC 3339 §5.8.
    ['1985-04-12T23:20:50.52Z', '1985-04-12T23:20:50.520Z'],
    ['1996-12-19T16:39:57-08:00', '1996-12-20T00:39:57.000Z'],
    ['1990-12-31T23:59:60Z', '1991-01-01T00:00:00.000Z'],
    ['1990-12-31T15:59:60-08:00', '1991-01-01T00:00:00.000Z'],
    ['1937-01-01T12:00:27.87+00:20', '1937-01-01T11:40:27.870Z'],
    // §4.3: the local offset is not known. §5.6: T and Z may be lower case.
    ['2026-11-23T15:20:00-00:00', '2026-11-23T15:20:00.000Z'],
    ['2026-11-23t15:20:00z', '2026-11-23T15:20:00.000Z'],
    ['2016-12-31T23:59:60.75Z', '2017-01-01T00:00:00.000Z'],
    ['2028-02-29T00:00:00+23:59', '2028-02-28T00:01:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    // Without seconds: more than RFC 3339.
    ['2027-01-31T12:00+02:00', '2027-01-31T10:00:00.000Z'],
  ])('reads %s', (text, time) => {
    expect(iso(text)).toBe(time);
  });

  it.each([
    '',
    '2026-11-23',
    '2026-11-23T15:20:00',
    '2026-11-23T15:20.5Z',
    '2026-11-23T15:20:00.Z',
    '2026-11-23T15:20:00,5Z',
    '2026-11-23T15:20:00+0100',
    '2026-11-23T15:20:00+01',
    '2026-11-23T15:20:00+24:00',
    '2026-11-23T15:20:00+00:60',
    '2026-11-23T24:00:00Z',
    '2026-11-23T15:60:00Z',
    '2026-11-23T15:20:61Z',
    '2026-02-29T15:20:00Z',
    '2026-13-01T15:20:00Z',
    '2026-00-01T15:20:00Z',
    '20261123T152000Z',
    '+002026-11-23T15:20:00Z',
    ' 2026-11-23T15:20:00Z',
    '2026-11-23T15:20:00Z[UTC]',
    // A leap second is the last second of a month in UTC.
    '2026-12-31T23:58:60Z',
    '2026-12-30T23:59:60Z',
    '2026-12-31T23:59:60+01:00',
    '2026-12-31T23:59:61Z',
  ])('refuses %j', (text) => {
    expect(parseTime(text)).toBeNaN();
  });

  it('reads every time with every offset as Temporal does', () => {
    const two = (most: number) =>
      fc.integer({ min: 0, max: most }).map((n) => String(n).padStart(2, '0'));
    const fraction = fc.stringMatching(/^(\.\d{1,9})?$/);
    const offset = fc.oneof(
      fc.constant('Z'),
      fc
        .tuple(fc.constantFrom('+', '-'), two(24), two(60))
        .map(([sign, h, m]) => `${sign}${h}:${m}`),
    );
    const year = fc.integer({ min: 0, max: 9999 }).map((n) => String(n).padStart(4, '0'));
    const time = fc.tuple(year, two(13), two(32), two(25), two(60), two(59), fraction, offset);
    fc.assert(
      fc.property(time, ([y, month, day, hour, minute, second, part, zone]) => {
        const text = `${y}-${month}-${day}T${hour}:${minute}:${second}${part}${zone}`;
        expect(parseTime(text)).toBe(oracle(text));
      }),
      { numRuns: 2_000 },
    );
  });
});

it('parseDate reads days that exist', () => {
  expect(parseDate('2028-02-29')).toBe(Date.UTC(2028, 1, 29));
  for (const text of ['2027-02-29', '2027-2-28', '2027-04-31', '2027-01-32', '2027-01-31T00:00Z']) {
    expect(parseDate(text)).toBeNaN();
  }
});

function oracle(text: string): number {
  try {
    return Temporal.Instant.from(text).epochMilliseconds;
  } catch {
    return Number.NaN;
  }
}
