/** A task did not begin, because the tasks before it took too long. */
export class QueueTimeoutError extends Error {
  override readonly name = 'QueueTimeoutError';

  constructor() {
    super('the tasks before it took too long');
  }
}

type Task = () => Promise<unknown>;

interface Waiting {
  readonly begin: () => void;
  readonly late: NodeJS.Timeout;
}

/** Has tasks done one after the other, in the order in which they came. */
export class Turns {
  /** Those that wait, first come first. */
  private readonly waiting = new Map<Task, Waiting>();
  private taken = false;

  /** @param timeoutMs how long a task waits for its turn. */
  constructor(private readonly timeoutMs: number) {}

  /**
   * @param task a function of its own, by which it is known while it waits.
   * @returns what the task comes to. @throws QueueTimeoutError, the task not begun, when its turn does not come in
   * time.
   */
  async take<T>(task: () => Promise<T>): Promise<T> {
    if (this.taken) await this.itsTurn(task);
    this.taken = true;
    try {
      return await task();
    } finally {
      this.passOn();
    }
  }

  /** Gives up the turn of a task that waits: it is never begun, and nobody hears of it. */
  withdraw(task: Task): void {
    clearTimeout(this.waiting.get(task)?.late);
    this.waiting.delete(task);
  }

  private itsTurn(task: Task): Promise<void> {
    return new Promise((begin, reject) => {
      const late = setTimeout(() => {
        this.waiting.delete(task);
        reject(new QueueTimeoutError());
      }, this.timeoutMs);
      this.waiting.set(task, { begin, late });
    });
  }

  /** To the one that has waited longest; nobody who comes in between takes its turn. */
  private passOn(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.taken = false;
      return;
    }
    const [task, { begin }] = next;
    this.withdraw(task);
    begin();
  }
}
