import { type Period, WEEK_POINTS } from '@weir/config-model';

export const HALF_HOUR_MS = 1_800_000;
/** Words with a bit for each half hour of a week. */
export const WEEK_WORDS = Math.ceil(WEEK_POINTS / 32);
const WEEK_MS = WEEK_POINTS * HALF_HOUR_MS;
/** From Monday 00:00 to 1970-01-01, which was a Thursday. */
const EPOCH_IN_WEEK_MS = 3 * 86_400_000;

/** Which half hours of a local week are inside the periods of a schedule: bit i is week point i. */
export function weekBits(periods: readonly Period[]): Int32Array {
  const bits = new Int32Array(WEEK_WORDS);
  for (const { start, end } of periods) {
    const length = end > start ? end - start : end - start + WEEK_POINTS;
    for (let i = 0; i < length; i++) {
      const point = (start + i) % WEEK_POINTS;
      bits[point >>> 5] |= 1 << (point & 31);
    }
  }
  return bits;
}

/** Whether the week that begins at `at` has all half hours inside, or all outside: then the schedule never switches. */
export function isConstant(words: Int32Array, at: number): boolean {
  const first = isPointInside(words, at, 0);
  for (let point = 1; point < WEEK_POINTS; point++) {
    if (isPointInside(words, at, point) !== first) return false;
  }
  return true;
}

/** Whether a local time, in milliseconds since the epoch of that wall clock, is inside. */
export function isInside(words: Int32Array, at: number, localMs: number): boolean {
  const sinceMonday = (localMs + EPOCH_IN_WEEK_MS) % WEEK_MS;
  const point = Math.floor((sinceMonday < 0 ? sinceMonday + WEEK_MS : sinceMonday) / HALF_HOUR_MS);
  return isPointInside(words, at, point);
}

function isPointInside(words: Int32Array, at: number, point: number): boolean {
  return (words[at + (point >>> 5)] & (1 << (point & 31))) !== 0;
}
