import { Slices } from './slices.js';
import { smallCalls } from './small-calls.js';

/** Work that is shorter waits for nobody. */
const SHORT_MS = 1;

/** The event loop is one for the whole process, and so are its slices. */
const slices = new Slices(smallCalls);

/** Lets a long computation yield to the event loop, and to other long computations. */
export class Yielder {
  private sinceMs = performance.now();

  /** Yields when the time of this turn is used up. Call it about every thousand steps. */
  async yieldIfDue(): Promise<void> {
    if (performance.now() - this.sinceMs < SHORT_MS || !slices.isOver) return;
    await slices.next();
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
