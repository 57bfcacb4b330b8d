import type { Period } from '@weir/config-model';
import { Space } from '../memory/space.js';
import { ScheduleLookup, Schedules } from '../schedules/schedules.js';
import type { ZoneClock } from '../schedules/zone-clock.js';

const SLOT = 7;

/** The state of one schedule in one zone. */
export class WeeklySwitch {
  isInside = false;
  untilMs = 0;
  private readonly schedules: Schedules;
  private readonly lookup: ScheduleLookup;

  constructor(
    private readonly clock: ZoneClock,
    private readonly periods: readonly Period[],
  ) {
    const spaces = { scheduleSlots: new Space(), schedules: new Space() };
    this.schedules = new Schedules(spaces);
    this.lookup = new ScheduleLookup(spaces, clock);
    this.putAgain();
  }

  /** Puts the schedule again, so that what is known of its state is forgotten. */
  putAgain(): void {
    const schedule = { profileId: 1, targetProfileId: 2, periods: this.periods };
    this.schedules.set(SLOT, schedule, 0);
  }

  /** Brings the two fields up to date. */
  seek(nowMs: number): void {
    this.clock.nowMs = nowMs;
    this.lookup.find(SLOT);
    this.isInside = this.lookup.isInside;
    this.untilMs = this.lookup.untilMs;
  }
}
