/**
 * After this long without a disturbance a resolver has a lease at every replica: a lease plus a heartbeat.
 * Disturbances that follow each other within this time are one.
 */
export const STABLE_AFTER_MS = 5_000;

/** When something was disturbed. Times are milliseconds of one monotonic clock. */
export class Disturbances {
  private under = 0;
  private beganMs = -Infinity;
  private endedMs = -Infinity;

  constructor(private readonly now: () => number) {}

  /** Notes that a disturbance begins. @returns a function that notes its end. */
  begin(): () => void {
    const nowMs = this.now();
    if (this.isCalmSince(nowMs)) this.beganMs = nowMs;
    this.under++;
    return () => {
      this.under--;
      this.endedMs = this.now();
    };
  }

  /** Whether none is under way, and the last one had ended long enough before this time. */
  isCalmSince(ms: number): boolean {
    return this.under === 0 && ms - this.endedMs > STABLE_AFTER_MS;
  }

  /** The end of the calm that this time belongs to, or that came before it. */
  calmUntilMs(ms: number): number {
    return this.isCalmSince(ms) ? ms : Math.min(this.beganMs, ms);
  }
}
