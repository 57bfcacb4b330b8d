const TIME = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?([Zz]|[+-]\d\d:\d\d)$/;
const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

/**
 * Reads a date-time of RFC 3339 §5.6; the seconds may be left out. Digits after the third of a fraction are ignored. A
 * leap second may only be the last second of a month in UTC (§5.7), and is its end.
 * @returns milliseconds since 1970, or NaN if it is none.
 */
export function parseTime(text: string): number {
  const [, date, minute, second = '00', fraction = '', offset] = TIME.exec(text) ?? [];
  if (date === undefined) return Number.NaN;
  const isLeap = second === '60';
  // Temporal takes second 60 for 59 without a word, so it is read as 59, and a second is added.
  const seconds = isLeap ? '59' : `${second}.${fraction.slice(0, 3).padEnd(3, '0')}`;
  const timeMs = instantMs(`${date}T${minute}:${seconds}${offset}`);
  if (!isLeap) return timeMs;
  const endMs = timeMs + SECOND_MS;
  return endMs % DAY_MS === 0 && new Date(endMs).getUTCDate() === 1 ? endMs : Number.NaN;
}

/** The first moment in UTC of a full-date of RFC 3339 §5.6, in milliseconds since 1970. NaN if it is none. */
export function parseDate(text: string): number {
  return /^\d{4}-\d\d-\d\d$/.test(text) ? instantMs(`${text}T00:00Z`) : Number.NaN;
}

function instantMs(text: string): number {
  try {
    return Temporal.Instant.from(text).epochMilliseconds;
  } catch (error) {
    if (error instanceof RangeError) return Number.NaN;
    throw error;
  }
}
