import { type Row, type Schedule, toRow } from '@weir/config-model';
import { HALF_HOUR_MS, WeeklyPeriods } from './weekly-periods.js';
import type { ZoneClock } from './zone-clock.js';

/** The next switch is at most a week away, or two weeks when a change of the offset skips one. */
const LOOK_AHEAD_MS = 15 * 86_400_000;

/**
 * The state of a schedule: whether its target decides now, and until when (decisions §5). The state is valid until
 * `untilMs`, so a query only compares two numbers. The next switch is searched when the last one has passed.
 */
export class ScheduleState {
  /** Valid from `fromMs` until `untilMs`: whether now is inside a period. */
  isInside = false;
  fromMs = Number.POSITIVE_INFINITY;
  /** The next switch; Infinity: there will be none. */
  untilMs = Number.NEGATIVE_INFINITY;
  readonly row: Row;
  private readonly week: WeeklyPeriods;

  constructor(
    schedule: Schedule,
    readonly targetSlot: number,
  ) {
    this.row = toRow('schedule', schedule);
    this.week = new WeeklyPeriods(schedule.periods);
  }

  /** Brings the three fields up to date with `clock.nowMs`. */
  seek(clock: ZoneClock): void {
    const { nowMs } = clock;
    if (nowMs >= this.fromMs && nowMs < this.untilMs) return;
    clock.seek(nowMs);
    this.isInside = this.week.isInside(nowMs + clock.offsetMs);
    this.fromMs = nowMs;
    this.untilMs = this.week.isConstant ? Number.POSITIVE_INFINITY : this.nextSwitch(nowMs, clock);
  }

  /** Goes through the half hours of local time, and each change of the offset, until `isInside` would change. */
  private nextSwitch(nowMs: number, clock: ZoneClock): number {
    let at = nowMs;
    while (at < nowMs + LOOK_AHEAD_MS) {
      clock.seek(at);
      const local = at + clock.offsetMs;
      const boundary = (Math.floor(local / HALF_HOUR_MS) + 1) * HALF_HOUR_MS;
      at = Math.min(boundary - clock.offsetMs, clock.untilMs);
      clock.seek(at);
      if (this.week.isInside(at + clock.offsetMs) !== this.isInside) return at;
    }
    return at;
  }
}
