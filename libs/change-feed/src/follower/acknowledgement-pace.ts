/**
 * Decides when a follower publishes what is in force. The first time at the end of this turn of the event loop, so that
 * of several changes that one turn puts in force only the last is published. Further times not before `intervalMs` have
 * passed: many followers must not publish more together than the control plane can read.
 */
export class AcknowledgementPace {
  intervalMs = 0;
  private lastMs = -Infinity;
  private isDue = false;
  private timer: NodeJS.Timeout | undefined;

  /** @param publish publishes what is in force when it is called. */
  constructor(private readonly publish: () => void) {}

  /** Call it when something new is in force. */
  request(): void {
    if (this.isDue) return;
    this.isDue = true;
    const waitMs = this.lastMs + this.intervalMs - performance.now();
    if (waitMs <= 0) setImmediate(() => this.end());
    else this.timer = setTimeout(() => this.end(), waitMs);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.isDue = false;
  }

  private end(): void {
    if (!this.isDue) return;
    this.isDue = false;
    this.lastMs = performance.now();
    this.publish();
  }
}
