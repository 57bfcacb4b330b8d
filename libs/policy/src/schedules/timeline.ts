import type { Schedule } from '@weir/config-model';
import { Space } from '../memory/space.js';
import { ScheduleLookup, Schedules } from './schedules.js';
import { ZoneClock } from './zone-clock.js';

/** A stretch of time [from, until), in milliseconds since 1970, and whether the target of a schedule decides in it. */
interface Stretch {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly isInside: boolean;
}

const SLOT = 0;

/** When a schedule is inside its periods and when outside (decisions §5), without gaps, from one switch to the next. */
export function timelineOf(
  schedule: Schedule,
  timeZone: string,
  { fromMs, untilMs }: Pick<Stretch, 'fromMs' | 'untilMs'>,
): Stretch[] {
  const spaces = { scheduleSlots: new Space(), schedules: new Space() };
  new Schedules(spaces).set(SLOT, schedule, SLOT);
  const clock = new ZoneClock(timeZone);
  const lookup = new ScheduleLookup(spaces, clock);
  const times: Stretch[] = [];
  for (let at = fromMs; at < untilMs; at = lookup.untilMs) {
    clock.nowMs = at;
    lookup.find(SLOT);
    const { isInside } = lookup;
    const time = { fromMs: at, untilMs: Math.min(lookup.untilMs, untilMs), isInside };
    const before = times.at(-1);
    // The search for a switch ends after two weeks.
    if (before?.isInside === isInside) times.splice(-1, 1, { ...time, fromMs: before.fromMs });
    else times.push(time);
  }
  return times;
}
