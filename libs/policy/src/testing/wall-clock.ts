import type { Period } from '@weir/config-model';

/** Every offset that the zones of the tests have is a multiple of this, and so every switch falls on one. */
const QUARTER_MS = 15 * 60_000;
const MINUTES_A_HALF_HOUR = 30;

/**
 * The wall clock of a zone over a stretch of time, read once from Intl and not from Temporal, which the policy
 * uses: the half hour of the local week at each quarter of an hour.
 */
export class WallClock {
  private readonly points: Uint16Array;

  constructor(
    readonly timeZone: string,
    readonly fromMs: number,
    readonly untilMs: number,
  ) {
    const quarters = (untilMs - fromMs) / QUARTER_MS;
    this.points = Uint16Array.from({ length: quarters }, (_, i) =>
      weekPointAt(fromMs + i * QUARTER_MS, timeZone),
    );
  }

  isInside(periods: readonly Period[], atMs: number): boolean {
    return this.covers(periods, Math.floor((atMs - this.fromMs) / QUARTER_MS));
  }

  /** The next instant at which `inside` changes; null: not before the end of the stretch. */
  nextSwitch(periods: readonly Period[], nowMs: number): number | null {
    const now = Math.floor((nowMs - this.fromMs) / QUARTER_MS);
    const inside = this.covers(periods, now);
    for (let quarter = now + 1; quarter < this.points.length; quarter++) {
      if (this.covers(periods, quarter) !== inside) return this.fromMs + quarter * QUARTER_MS;
    }
    return null;
  }

  private covers(periods: readonly Period[], quarter: number): boolean {
    return isCovered(periods, this.points[quarter]);
  }
}

/** Whether a half hour of the week is inside any of the periods. */
export function isCovered(periods: readonly Period[], point: number): boolean {
  return periods.some(({ start, end }) =>
    end > start ? start <= point && point < end : point >= start || point < end,
  );
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const formats = new Map<string, Intl.DateTimeFormat>();

/** The half hour of the week that a zone's wall clock shows. */
export function weekPointAt(atMs: number, timeZone: string): number {
  const format = formats.getOrInsertComputed(
    timeZone,
    () =>
      new Intl.DateTimeFormat('en-US', {
        ...{ timeZone, calendar: 'iso8601', hourCycle: 'h23' },
        ...{ weekday: 'short', hour: 'numeric', minute: 'numeric' },
      }),
  );
  const parts = Object.fromEntries(
    format.formatToParts(atMs).map(({ type, value }) => [type, value]),
  );
  const minutes = Number(parts['hour']) * 60 + Number(parts['minute']);
  const day = WEEKDAYS.indexOf(parts['weekday'] ?? '');
  return day * 48 + Math.floor(minutes / MINUTES_A_HALF_HOUR);
}
