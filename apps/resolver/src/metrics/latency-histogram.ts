import { AnswerSource } from '../query/answer-source.js';
import { Histogram, type HistogramValue } from './histogram.js';

const SOURCES = Object.keys(AnswerSource);

export function sourceLabel(source: AnswerSource): string {
  return SOURCES[source];
}

const BOUNDS_SECONDS = [
  0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000,
].map((ms) => ms / 1000);
const SIZE = Histogram.sizeFor(BOUNDS_SECONDS);

/** Answer times by source of the answer. */
export class LatencyHistogram {
  static readonly size = SOURCES.length * SIZE;

  private readonly bySource: readonly Histogram[];

  /** @param counts where it counts: `size` numbers, which another thread may read */
  constructor(counts: Float64Array = new Float64Array(LatencyHistogram.size)) {
    this.bySource = SOURCES.map(
      (_, i) => new Histogram(BOUNDS_SECONDS, counts.subarray(i * SIZE, (i + 1) * SIZE)),
    );
  }

  /** @param weight number of answers that this one represents */
  observe(source: AnswerSource, tookMs: number, weight: number): void {
    this.bySource[source].observe(tookMs / 1000, weight);
  }

  /** The lines of the histogram `name`, in seconds, with the label `source`. */
  lines(name: string): HistogramValue[] {
    return SOURCES.flatMap((source, i) => this.bySource[i].lines(name, { source }));
  }
}
