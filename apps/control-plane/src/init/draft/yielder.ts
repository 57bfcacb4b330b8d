import { setImmediate } from 'node:timers/promises';

/** Longest that a long computation keeps everything else of the process waiting. */
const SLICE_MS = 10;

/** For long computations: lets everything else of the process have its turn now and then. */
export class Yielder {
  private sinceMs = performance.now();

  /** Call it every thousand steps or so. */
  async yieldIfDue(): Promise<void> {
    if (performance.now() - this.sinceMs < SLICE_MS) return;
    await setImmediate();
    this.sinceMs = performance.now();
  }
}

/** Steps between two calls of `yieldIfDue`: a power of two. */
export const ROWS_PER_YIELD = 1024;

/** Does something for each of `count` rows. */
export async function forEachRow(
  yielder: Yielder,
  count: number,
  work: (row: number) => void,
): Promise<void> {
  for (let row = 0; row < count; row++) {
    if (row % ROWS_PER_YIELD === 0) await yielder.yieldIfDue();
    work(row);
  }
}
