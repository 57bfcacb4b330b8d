import type { SubscriberKey } from './subscriber-key.js';

type Key = Pick<SubscriberKey, 'first' | 'second'>;

const ROWS = 2;
/** A power of two. */
const COLUMNS = 65_536;

/**
 * Open connections of each subscriber, in fixed memory that threads share. A subscriber has a counter in each of two
 * rows, chosen by its key, and the lower one counts (count-min sketch): it is too high only where other subscribers
 * share both.
 */
export class ConnectionCounts {
  private readonly counters: Int32Array;

  /** @param memory of the counts of another thread, to count together with it */
  constructor(
    readonly memory = new SharedArrayBuffer(ROWS * COLUMNS * Int32Array.BYTES_PER_ELEMENT),
  ) {
    this.counters = new Int32Array(memory);
  }

  of({ first, second }: Key): number {
    const { counters } = this;
    return Math.min(
      Atomics.load(counters, first & (COLUMNS - 1)),
      Atomics.load(counters, COLUMNS + (second & (COLUMNS - 1))),
    );
  }

  /** That many more. */
  add({ first, second }: Key, connections: number): void {
    Atomics.add(this.counters, first & (COLUMNS - 1), connections);
    Atomics.add(this.counters, COLUMNS + (second & (COLUMNS - 1)), connections);
  }
}
