import { type Period, WEEK_POINTS } from '@weir/config-model';

export const HALF_HOUR_MS = 1_800_000;
const WEEK_MS = WEEK_POINTS * HALF_HOUR_MS;
/** From Monday 00:00 to 1970-01-01, which was a Thursday. */
const EPOCH_IN_WEEK_MS = 3 * 86_400_000;

/** Which half hours of a local week are inside the periods of a schedule: bit i is week point i. */
export class WeeklyPeriods {
  private readonly bits = new Int32Array(Math.ceil(WEEK_POINTS / 32));
  /** Whether all half hours are inside, or all outside: then the schedule never switches. */
  readonly isConstant: boolean;

  constructor(periods: readonly Period[]) {
    let inside = 0;
    for (const { start, end } of periods) {
      const length = end > start ? end - start : end - start + WEEK_POINTS;
      for (let i = 0; i < length; i++) {
        const point = (start + i) % WEEK_POINTS;
        if (!this.has(point)) inside++;
        this.bits[point >>> 5] |= 1 << (point & 31);
      }
    }
    this.isConstant = inside === 0 || inside === WEEK_POINTS;
  }

  /** Whether a local time, in milliseconds since the epoch of that wall clock, is inside. */
  isInside(localMs: number): boolean {
    const sinceMonday = (localMs + EPOCH_IN_WEEK_MS) % WEEK_MS;
    return this.has(
      Math.floor((sinceMonday < 0 ? sinceMonday + WEEK_MS : sinceMonday) / HALF_HOUR_MS),
    );
  }

  private has(point: number): boolean {
    return (this.bits[point >>> 5] & (1 << (point & 31))) !== 0;
  }
}
