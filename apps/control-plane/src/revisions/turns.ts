import { setTimeout as sleep } from 'node:timers/promises';
import { RequestError } from '../errors/errors.js';

/** Has tasks done one after the other, in the order in which they came. */
export class Turns {
  private last: Promise<unknown> = Promise.resolve();

  /** @param timeoutMs how long a task waits for its turn. */
  constructor(private readonly timeoutMs: number) {}

  /** What the task comes to. @throws RequestError `busy`, the task not begun, when its turn does not come in time. */
  async take<T>(task: () => Promise<T>): Promise<T> {
    const before = this.last;
    const mine = this.itsTurn(before).then(task);
    // The next one goes on whether this one failed or not, but not before this one's turn was over; its caller hears of the failure.
    this.last = Promise.all([before, mine.catch(() => undefined)]);
    return mine;
  }

  private async itsTurn(before: Promise<unknown>): Promise<void> {
    const tooLate = new AbortController();
    const late = sleep(this.timeoutMs, undefined, { signal: tooLate.signal, ref: false }).then(
      () => {
        throw new RequestError('busy', undefined, { 'Retry-After': '1' });
      },
    );
    try {
      await Promise.race([before, late]);
    } finally {
      // Nobody hears of the end of a wait that was given up.
      late.catch(() => undefined);
      tooLate.abort();
    }
  }
}
