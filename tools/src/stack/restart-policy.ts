/** What follows when a process has ended by itself. */
export interface Restart {
  /** How long to wait before it is started again. */
  readonly pauseMs: number;
  /** It has ended `MOST_ENDS` times within a minute, and has not run well since. */
  readonly isFailing: boolean;
}

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;
/** Of a process that is failing. */
export const SLOW_PAUSE_MS = 30_000;
/** A process that has run for as long as this has run well. */
const WELL_MS = 60_000;
const WITHIN_MS = 60_000;
export const MOST_ENDS = 5;

/**
 * When to start a process again that has ended by itself: soon at first, then after twice the pause each time, and
 * slowly where it ends again and again. One that has run well begins anew.
 */
export class RestartPolicy {
  private pauseMs = FIRST_PAUSE_MS;
  private isFailing = false;
  /** When it ended, within the last minute. */
  private ends: readonly number[] = [];

  /** @param startedMs when the process was started, and @param endedMs when it ended, both by one monotonic clock. */
  ended(startedMs: number, endedMs: number): Restart {
    if (endedMs - startedMs >= WELL_MS) {
      this.pauseMs = FIRST_PAUSE_MS;
      this.isFailing = false;
      this.ends = [];
    }
    this.ends = [...this.ends.filter((atMs) => endedMs - atMs < WITHIN_MS), endedMs];
    this.isFailing ||= this.ends.length >= MOST_ENDS;
    const { pauseMs, isFailing } = this;
    this.pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    return { pauseMs: isFailing ? SLOW_PAUSE_MS : pauseMs, isFailing };
  }
}
