/** What follows when a process has ended by itself. */
export interface Restart {
  /** How long to wait before it is started again. */
  readonly pauseMs: number;
  /** It has ended `MAX_EXITS` times within a minute, and has not run well since. */
  readonly isFailing: boolean;
}

const INITIAL_DELAY_MS = 200;
const MAX_DELAY_MS = 10_000;
/** Of a process that is failing. */
export const FAILING_DELAY_MS = 30_000;
/** A process that has run for as long as this has run well. */
const STABLE_MS = 60_000;
const EXIT_WINDOW_MS = 60_000;
export const MAX_EXITS = 5;

/**
 * When to start a process again that has ended by itself: soon at first, then after twice the pause each time, and
 * slowly where it ends again and again. One that has run well begins anew.
 */
export class RestartPolicy {
  private pauseMs = INITIAL_DELAY_MS;
  private isFailing = false;
  /** When it ended, within the last minute. */
  private ends: readonly number[] = [];

  /** @param startedMs when the process was started, and @param endedMs when it ended, both by one monotonic clock. */
  ended(startedMs: number, endedMs: number): Restart {
    if (endedMs - startedMs >= STABLE_MS) {
      this.pauseMs = INITIAL_DELAY_MS;
      this.isFailing = false;
      this.ends = [];
    }
    this.ends = [...this.ends.filter((atMs) => endedMs - atMs < EXIT_WINDOW_MS), endedMs];
    this.isFailing ||= this.ends.length >= MAX_EXITS;
    const { pauseMs, isFailing } = this;
    this.pauseMs = Math.min(pauseMs * 2, MAX_DELAY_MS);
    return { pauseMs: isFailing ? FAILING_DELAY_MS : pauseMs, isFailing };
  }
}
