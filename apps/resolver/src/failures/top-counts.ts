/** One of the keys that were counted most often. */
export interface TopCount<T> {
  readonly key: number;
  /** What the key stands for. */
  readonly value: T;
  count: number;
  /** The true count may be lower by up to this much. */
  error: number;
}

/**
 * Counts keys in bounded memory: the Space-Saving sketch (Metwally et al., 2005). When it is full, a new key takes the
 * place and the count of the key with the lowest count. So a key that was counted more often than total / capacity is
 * always there, and no count is too low.
 */
export class TopCounts<T> {
  private readonly counts = new Map<number, TopCount<T>>();

  constructor(private readonly capacity: number) {}

  add(key: number, valueOf: () => T): void {
    const found = this.counts.get(key);
    if (found !== undefined) {
      found.count++;
      return;
    }
    const error = this.counts.size < this.capacity ? 0 : this.dropLowest();
    this.counts.set(key, { key, value: valueOf(), count: error + 1, error });
  }

  /** All keys, most frequent first. */
  sorted(): readonly TopCount<T>[] {
    return [...this.counts.values()].sort((one, other) => other.count - one.count);
  }

  /** @returns the count of the key that was dropped */
  private dropLowest(): number {
    let lowest: TopCount<T> | null = null;
    for (const one of this.counts.values()) {
      if (lowest === null || one.count < lowest.count) lowest = one;
    }
    if (lowest === null) return 0;
    this.counts.delete(lowest.key);
    return lowest.count;
  }
}
