import type { ThreadState } from './thread-state.js';

/**
 * Finds a thread that hangs: it makes no turns, although it could. On a busy machine a thread may wait long for a
 * processor; such a time does not count.
 */
export class ThreadWatch {
  private turns = 0;
  private cpuSeconds = 0;
  private stuckSeconds = 0;

  /** @param patienceSeconds for which it may have a processor, or wait for something else, without making a turn */
  constructor(private readonly patienceSeconds: number) {}

  /**
   * To be called once a second.
   * @param turns those that it has made
   */
  hangs(turns: number, { cpuSeconds, isRunnable }: ThreadState): boolean {
    const used = cpuSeconds - this.cpuSeconds;
    const isMoving = turns !== this.turns;
    this.turns = turns;
    this.cpuSeconds = cpuSeconds;
    this.stuckSeconds = isMoving ? 0 : this.stuckSeconds + (isRunnable ? used : 1);
    if (this.stuckSeconds < this.patienceSeconds) return false;
    this.stuckSeconds = 0;
    return true;
  }
}
