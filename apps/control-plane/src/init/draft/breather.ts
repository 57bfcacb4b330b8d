import { setImmediate } from 'node:timers/promises';

/** Longest that a long computation keeps everything else of the process waiting. */
const SLICE_MS = 10;

/** For long computations: lets everything else of the process have its turn now and then. */
export class Breather {
  private sinceMs = performance.now();

  /** Call it every thousand steps or so. */
  async breathe(): Promise<void> {
    if (performance.now() - this.sinceMs < SLICE_MS) return;
    await setImmediate();
    this.sinceMs = performance.now();
  }
}

/** Steps between two calls of `breathe`: a power of two. */
export const STEPS = 1024;

/** Does something for each of `count` rows. */
export async function forEachRow(
  breather: Breather,
  count: number,
  work: (row: number) => void,
): Promise<void> {
  for (let row = 0; row < count; row++) {
    if (row % STEPS === 0) await breather.breathe();
    work(row);
  }
}
