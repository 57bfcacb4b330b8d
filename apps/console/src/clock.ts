import type { Schemas } from './api.js';

/** What the clocks of a time zone show at a time of RFC 3339: `2026-12-31T23:59`. */
export function shownAt(time: string, timeZone: string): string {
  return clockOf(timeZone)
    .format(Date.parse(time))
    .replace(' ', 'T')
    .slice(0, 'yyyy-mm-ddThh:mm'.length);
}

function clockOf(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone });
}

/**
 * The time at which the clocks of a time zone show something.
 * @param shown `2026-12-31T23:59`. When it is left out as summer time begins: an hour later; when it comes twice as
 *   summer time ends: the second one.
 * @returns RFC 3339, UTC
 */
export function timeOf(shown: string, timeZone: string): string {
  const clock = clockOf(timeZone);
  const wanted = Date.parse(`${shown}Z`);
  const differenceAt = (time: number): number =>
    wanted - Date.parse(`${clock.format(time).replace(' ', 'T')}Z`);
  // The first step may be over the beginning or end of summer time; the second one sees it.
  const near = wanted + differenceAt(wanted);
  return new Date(near + differenceAt(near)).toISOString();
}

const DAY_MS = 86_400_000;

interface Segment {
  readonly activeId: number;
  /** Share of the day: 0 to 1. */
  readonly from: number;
  readonly until: number;
}

/** The local time of a text of RFC 3339, as if it were UTC: days have the length that a calendar shows. */
export function localMs(text: string): number {
  return Date.parse(`${text.slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}Z`);
}

/** Which profile is active when, by days. */
export function daysOf(switches: readonly Schemas['Switch'][]): Map<number, Segment[]> {
  const days = new Map<number, Segment[]>();
  for (const { from, until, active_id: activeId } of switches) {
    const [fromMs, untilMs] = [localMs(from), localMs(until)];
    for (let day = Math.floor(fromMs / DAY_MS) * DAY_MS; day < untilMs; day += DAY_MS) {
      const share = (ms: number): number => Math.min(Math.max((ms - day) / DAY_MS, 0), 1);
      // When clocks go back, a period may end at an earlier clock time than it begins.
      const until = share(Math.max(fromMs, untilMs));
      const segment = { activeId, from: share(fromMs), until };
      days.set(day, [...(days.get(day) ?? []), segment]);
    }
  }
  return days;
}
