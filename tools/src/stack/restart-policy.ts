/** What to do after a process has exited unexpectedly. */
export interface Restart {
  /** Delay before the restart. */
  readonly pauseMs: number;
  /** It has exited `MAX_EXITS` times within a minute, and has not been stable since. */
  readonly isFailing: boolean;
}

const INITIAL_DELAY_MS = 200;
/** Also the delay for a failing process: it is there soon after the cause is gone. */
export const MAX_DELAY_MS = 10_000;
/** A process that has run this long is stable. */
const STABLE_MS = 60_000;
const EXIT_WINDOW_MS = 60_000;
export const MAX_EXITS = 5;

/**
 * Exponential backoff for processes that exit unexpectedly. The delay doubles with each exit. A process that exits
 * again and again is restarted slowly. After a stable run the delay starts again at its initial value.
 */
export class RestartPolicy {
  private pauseMs = INITIAL_DELAY_MS;
  private isFailing = false;
  /** Times of its exits within the last minute. */
  private ends: readonly number[] = [];

  /** @param startedMs when the process was started. @param endedMs when it exited. Both by the same monotonic clock. */
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
    return { pauseMs: isFailing ? MAX_DELAY_MS : pauseMs, isFailing };
  }
}
