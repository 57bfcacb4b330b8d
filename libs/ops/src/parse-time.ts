const TIME =
  /^(\d{4}-\d\d-\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:[Zz]|([+-])(\d\d):(\d\d))$/;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * Reads a date-time of RFC 3339 §5.6; the seconds may be left out. Digits after the third of a fraction are ignored. A
 * leap second may only be the last second of a month in UTC (§5.7), and is its end.
 * @returns milliseconds since 1970, or NaN if it is none.
 */
export function parseTime(text: string): number {
  const match = TIME.exec(text);
  if (match === null) return Number.NaN;
  const [, date, hour, minute, second = '00', fraction = '', sign, offsetHour, offsetMinute] =
    match;
  const dayMs = parseDate(date);
  const isInRange = hour <= '23' && minute <= '59' && second <= '60';
  if (!isInRange || offsetHour > '23' || offsetMinute > '59') return Number.NaN;
  const offsetMs = sign === undefined ? 0 : clockMs(offsetHour, offsetMinute);
  const secondMs =
    dayMs + clockMs(hour, minute) + Number(second) * 1_000 - (sign === '-' ? -offsetMs : offsetMs);
  if (second === '60') return isStartOfMonth(secondMs) ? secondMs : Number.NaN;
  return secondMs + Number(fraction.slice(0, 3).padEnd(3, '0'));
}

/** The first moment in UTC of a full-date of RFC 3339 §5.6, in milliseconds since 1970. NaN if it is none. */
export function parseDate(text: string): number {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return Number.NaN;
  const dayMs = Date.parse(`${text}T00:00:00Z`);
  // `Date.parse` takes 30 February for 2 March.
  const isDay = !Number.isNaN(dayMs) && new Date(dayMs).toISOString().startsWith(text);
  return isDay ? dayMs : Number.NaN;
}

function clockMs(hour: string, minute: string): number {
  return Number(hour) * HOUR_MS + Number(minute) * MINUTE_MS;
}

function isStartOfMonth(timeMs: number): boolean {
  return timeMs % DAY_MS === 0 && new Date(timeMs).getUTCDate() === 1;
}
