/** When a change has waited long enough for those before it, whatever it waits for. */
export class Deadline {
  private endMs: number;

  /** @param waitMs from now. */
  constructor(waitMs: number) {
    this.endMs = performance.now() + waitMs;
  }

  /** Whole milliseconds, at least 1: to PostgreSQL, 0 means no limit. */
  get leftMs(): number {
    return Math.max(Math.ceil(this.endMs - performance.now()), 1);
  }

  /** Does work of the change itself: its time is no wait. */
  async exclude<T>(work: () => Promise<T>): Promise<T> {
    const startMs = performance.now();
    const result = await work();
    this.endMs += performance.now() - startMs;
    return result;
  }
}
