import { Histogram } from '../metrics/histogram.js';

/** Upper bounds of the sizes of batches. */
const BATCH_BOUNDS = [1, 2, 4, 8, 16, 32, 64] as const;
const SECONDS_BOUNDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
];

/** What is counted one by one. */
export const LaneCount = {
  answers: 0,
  naps: 1,
  receiveErrors: 2,
} as const;
type LaneCount = (typeof LaneCount)[keyof typeof LaneCount];
const SINGLES = 3;
const SECONDS_SIZE = Histogram.sizeFor(SECONDS_BOUNDS);
const TURNS = SINGLES + Histogram.sizeFor(BATCH_BOUNDS);

/** What a lane counts beside what every thread counts, in memory that the main thread reads. */
export class LaneCounts {
  static readonly size = TURNS + SECONDS_SIZE;

  /** Sizes of batches. */
  readonly batches: Histogram;
  /** Seconds from the receipt of a batch until its answers are sent. Queries that arrive meanwhile wait that long. */
  readonly turns: Histogram;

  constructor(private readonly counts: Float64Array) {
    this.batches = new Histogram(BATCH_BOUNDS, counts.subarray(SINGLES, TURNS));
    this.turns = new Histogram(SECONDS_BOUNDS, counts.subarray(TURNS, LaneCounts.size));
  }

  count(what: LaneCount, times = 1): void {
    this.counts[what] += times;
  }

  get answers(): number {
    return this.counts[LaneCount.answers];
  }

  get receiveErrors(): number {
    return this.counts[LaneCount.receiveErrors];
  }

  get naps(): number {
    return this.counts[LaneCount.naps];
  }
}
