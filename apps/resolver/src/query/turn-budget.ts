/** Limits of one turn. */
const MAX_STEPS = 32;
const MAX_MS = 0.25;

/** How much of a long job may be done in one turn of the event loop, so that it stays free for other queries. */
export class TurnBudget {
  private steps = 0;
  private endMs = 0;

  /** @param nowMs monotonic clock. While it stands still (`BatchClocks`), only the steps are limited */
  constructor(private readonly nowMs: () => number) {}

  start(): void {
    this.steps = MAX_STEPS;
    this.endMs = this.nowMs() + MAX_MS;
  }

  /** Takes one step of the job. @returns false when the rest must wait for the next turn */
  take(): boolean {
    if (this.steps === 0) return false;
    this.steps = this.nowMs() < this.endMs ? this.steps - 1 : 0;
    return true;
  }
}
