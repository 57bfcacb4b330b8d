import { DatabaseError, isSilence } from '../platform/database/database-errors.js';

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

type Task = () => Promise<unknown>;

interface WaitingTask {
  readonly start: () => void;
  readonly fail: (reason: Error) => void;
  readonly timeout: NodeJS.Timeout;
}

/** Runs tasks one at a time, first in, first out. */
export class WriteQueue {
  /** In insertion order. */
  private readonly waiting = new Map<Task, WaitingTask>();
  private isBusy = false;

  /**
   * @param task a new function each time.
   * @param deadline until when it waits to be started.
   * @throws DatabaseError `busy` when it is not started in time, `silent` when a task before it found
   *   that the database does not answer. It is never started then.
   */
  async run<T>(task: () => Promise<T>, deadline: Deadline): Promise<T> {
    if (this.isBusy) await this.wait(task, deadline);
    this.isBusy = true;
    try {
      return await task();
    } catch (error) {
      if (isSilence(error)) this.failWaiting();
      throw error;
    } finally {
      this.startNext();
    }
  }

  /** Removes a waiting task: it is never started, and its promise never settles. */
  remove(task: Task): void {
    clearTimeout(this.waiting.get(task)?.timeout);
    this.waiting.delete(task);
  }

  /** The tasks that wait would only wait longer for a database that does not answer. */
  private failWaiting(): void {
    for (const [task, { fail }] of this.waiting) {
      this.remove(task);
      fail(new DatabaseError('silent'));
    }
  }

  private wait(task: Task, { leftMs }: Deadline): Promise<void> {
    return new Promise((start, fail) => {
      const timeout = setTimeout(() => {
        this.waiting.delete(task);
        fail(new DatabaseError('busy'));
      }, leftMs);
      this.waiting.set(task, { start, fail, timeout });
    });
  }

  /** Stays busy when a task waits, so that a new task cannot start before it. */
  private startNext(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.isBusy = false;
      return;
    }
    const [task, { start }] = next;
    this.remove(task);
    start();
  }
}
