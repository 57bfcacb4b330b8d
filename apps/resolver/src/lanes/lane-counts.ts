/** Upper bounds of the sizes of batches. */
export const BATCH_BOUNDS = [1, 2, 4, 8, 16, 32, 64] as const;
const QUERIES = BATCH_BOUNDS.length;
const ANSWERS = QUERIES + 1;
const HANDED_OVER = ANSWERS + 1;

/** What a lane counts beside what every thread counts, in memory that the main thread reads. */
export class LaneCounts {
  static readonly size = HANDED_OVER + 1;

  constructor(private readonly counts: Float64Array) {}

  countBatch(size: number): void {
    // The bounds are powers of two.
    this.counts[32 - Math.clz32(size - 1)]++;
    this.counts[QUERIES] += size;
  }

  countAnswers(count: number): void {
    this.counts[ANSWERS] += count;
  }

  countHandedOver(): void {
    this.counts[HANDED_OVER]++;
  }

  /** Batches of each size, in the order of `BATCH_BOUNDS`. */
  get batches(): readonly number[] {
    return [...this.counts.subarray(0, BATCH_BOUNDS.length)];
  }

  /** Packets that it has received. */
  get queries(): number {
    return this.counts[QUERIES];
  }

  get answers(): number {
    return this.counts[ANSWERS];
  }

  get handedOver(): number {
    return this.counts[HANDED_OVER];
  }
}
