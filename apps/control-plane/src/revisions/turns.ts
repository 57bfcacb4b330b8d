import { RequestError } from '../errors/errors.js';

/** Has tasks done one after the other, in the order in which they came. */
export class Turns {
  /** Those that wait, first come first. */
  private readonly waiting = new Set<() => void>();
  private taken = false;

  /** @param timeoutMs how long a task waits for its turn. */
  constructor(private readonly timeoutMs: number) {}

  /** What the task comes to. @throws RequestError `busy`, the task not begun, when its turn does not come in time. */
  async take<T>(task: () => Promise<T>): Promise<T> {
    if (this.taken) await this.itsTurn();
    this.taken = true;
    try {
      return await task();
    } finally {
      this.passOn();
    }
  }

  private itsTurn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(late);
        resolve();
      };
      const late = setTimeout(() => {
        this.waiting.delete(begin);
        reject(new RequestError('busy', undefined, { 'Retry-After': '1' }));
      }, this.timeoutMs);
      this.waiting.add(begin);
    });
  }

  /** To the one that has waited longest; nobody who comes in between takes its turn. */
  private passOn(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.taken = false;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}
