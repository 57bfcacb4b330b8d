import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** How long work may block the event loop at a time. */
const MAX_BLOCKING_MS = 2;

/** For long work: lets other callbacks of the process run, such as queries, after every two milliseconds of work. */
export class Yielder {
  private startedMs = performance.now();

  /** Whether the two milliseconds are over. */
  get isDue(): boolean {
    return performance.now() - this.startedMs >= MAX_BLOCKING_MS;
  }

  /** Call it between two steps of the work. Resolves at once while the two milliseconds are not over. */
  async yieldIfDue(): Promise<void> {
    if (this.isDue) await this.yieldNow();
  }

  async yieldNow(): Promise<void> {
    await yieldToEventLoop();
    this.startedMs = performance.now();
  }
}
