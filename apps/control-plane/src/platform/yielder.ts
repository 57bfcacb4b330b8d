import { setImmediate } from 'node:timers/promises';

/** Longest time that a long computation may block the event loop. */
const SLICE_MS = 5;

/** Lets a long computation yield to the event loop. */
export class Yielder {
  private sinceMs = performance.now();

  /** Yields when the last yield was more than `SLICE_MS` ago. Call it about every thousand steps. */
  async yieldIfDue(): Promise<void> {
    if (performance.now() - this.sinceMs < SLICE_MS) return;
    await setImmediate();
    this.sinceMs = performance.now();
  }
}

/** Rows between two calls of `yieldIfDue`. */
export const ROWS_PER_YIELD = 1024;

/** Calls `work` for each of `count` rows, and yields in between. */
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

/** `items.map(convert)`, which yields in between. */
export async function mapRows<T, U>(
  items: readonly T[],
  convert: (item: T, i: number) => U,
): Promise<U[]> {
  const converted: U[] = [];
  await forEachRow(new Yielder(), items.length, (i) => {
    converted.push(convert(items[i], i));
  });
  return converted;
}
