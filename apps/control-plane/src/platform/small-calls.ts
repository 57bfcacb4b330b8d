/** A call that takes longer is no small call, whatever it is: a slow reader, a change that waits for resolvers. */
const SMALL_MS = 100;

/** The small calls in progress, for which long computations make room (`Slices`). */
export class SmallCalls {
  /** In the order in which they have begun. */
  private readonly begun = new Set<{ readonly sinceMs: number }>();
  private onIdle: (() => void) | null = null;

  /** @returns a function that ends the call. It may be called more than once. */
  begin(): () => void {
    const call = { sinceMs: performance.now() };
    this.begun.add(call);
    return () => {
      this.begun.delete(call);
      if (this.begun.size === 0) this.onIdle?.();
    };
  }

  get areInProgress(): boolean {
    const nowMs = performance.now();
    for (const call of this.begun) {
      if (nowMs - call.sinceMs < SMALL_MS) return true;
      this.begun.delete(call);
    }
    return false;
  }

  /** Resolves when those in progress have ended, or when the time is over. One caller may wait at a time. */
  async untilIdle(longestMs: number): Promise<void> {
    if (!this.areInProgress) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, longestMs);
      this.onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.onIdle = null;
  }
}

/** Those of this process. */
export const smallCalls = new SmallCalls();
