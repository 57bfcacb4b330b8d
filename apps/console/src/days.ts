import type { Schemas } from './api.js';

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
      const segment = { activeId, from: share(fromMs), until: share(untilMs) };
      days.set(day, [...(days.get(day) ?? []), segment]);
    }
  }
  return days;
}
