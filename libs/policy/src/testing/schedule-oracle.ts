import { type Period, WEEK_POINTS } from '@weir/config-model';

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** The wall clock of a zone, asked for each instant: which half hour of the week it is there. */
export function weekPointOf(atMs: number, timeZone: string): number {
  const text = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(atMs);
  const [, day, hour, minute] = /^(\w{3})\W+(\d\d):(\d\d)$/.exec(text)!;
  return DAYS.indexOf(day) * 48 + Number(hour) * 2 + (Number(minute) >= 30 ? 1 : 0);
}

export function isInsidePeriods(
  periods: readonly Period[],
  atMs: number,
  timeZone: string,
): boolean {
  const point = weekPointOf(atMs, timeZone);
  return periods.some(({ start, end }) =>
    end > start ? start <= point && point < end : point >= start || point < end % WEEK_POINTS,
  );
}
