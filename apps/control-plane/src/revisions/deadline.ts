/** When a change has waited long enough for those before it, whatever it waits for. */
export class Deadline {
  private readonly endMs: number;

  /** @param waitMs from now. */
  constructor(waitMs: number) {
    this.endMs = performance.now() + waitMs;
  }

  /** Whole milliseconds, at least 1: to PostgreSQL, 0 means no limit. */
  get leftMs(): number {
    return Math.max(Math.ceil(this.endMs - performance.now()), 1);
  }
}
