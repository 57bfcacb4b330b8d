import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SmallCalls } from './small-calls.js';

/** Longest time for which long computations block the event loop in one turn, all of them together. */
const SLICE_MS = 5;
/** Longest time for which they wait for small calls after a slice. So they always have half of the time. */
const PAUSE_MS = 5;

/**
 * Divides the event loop between long computations and everything else: one slice of one computation in a turn, first
 * come, first served. While small calls are in progress, the next slice waits for them, but not for long: a small call
 * needs several turns, and would wait for a slice in each of them.
 */
export class Slices {
  private readonly waiting: (() => void)[] = [];
  /** When the last slice began; null: there has been none in this turn. */
  private startedMs: number | null = null;

  constructor(private readonly calls: SmallCalls) {}

  /** Whether the time of this turn is used up. Whoever asks first in a turn begins a slice. */
  get isOver(): boolean {
    if (this.startedMs !== null) return performance.now() - this.startedMs >= SLICE_MS;
    this.startedMs = performance.now();
    void this.run();
    return false;
  }

  /** The next slice for the caller. Ask for it only when `isOver`. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
    });
  }

  private async run(): Promise<void> {
    for (;;) {
      await nextTurn();
      const resume = this.waiting.shift();
      if (resume === undefined) break;
      if (this.calls.areInProgress) {
        await this.calls.untilIdle(PAUSE_MS);
        await nextTurn();
      }
      this.startedMs = performance.now();
      resume();
    }
    this.startedMs = null;
  }
}
