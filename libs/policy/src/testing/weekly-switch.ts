import type { Period } from '@weir/config-model';
import { Space } from '../memory/space.js';
import { ScheduleLookup } from '../schedules/schedule-lookup.js';
import { Schedules } from '../schedules/schedules.js';
import type { ZoneClock } from '../schedules/zone-clock.js';

const SLOT = 7;

/** The state of one schedule in one zone. */
export class WeeklySwitch {
  isInside = false;
  untilMs = 0;
  private readonly lookup: ScheduleLookup;

  constructor(
    private readonly clock: ZoneClock,
    periods: readonly Period[],
  ) {
    const spaces = { scheduleSlots: new Space(), schedules: new Space() };
    new Schedules(spaces).set(SLOT, { profileId: 1, targetProfileId: 2, periods }, 0);
    this.lookup = new ScheduleLookup(spaces, clock);
  }

  /** Brings the two fields up to date. */
  seek(nowMs: number): void {
    this.clock.nowMs = nowMs;
    this.lookup.find(SLOT);
    this.isInside = this.lookup.isInside;
    this.untilMs = this.lookup.untilMs;
  }
}
