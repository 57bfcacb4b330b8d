import { AnswerSource } from '../query/answer-source.js';

const SOURCES = Object.keys(AnswerSource);

export function sourceLabel(source: AnswerSource): string {
  return SOURCES[source];
}

/** Upper bounds of the buckets in milliseconds. One more bucket takes everything above the last. */
const BOUNDS_MS = [
  0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000,
];
const BUCKETS = BOUNDS_MS.length + 1;

/** One line of a Prometheus histogram. */
export interface HistogramValue {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * Answer times by source of the answer. Counts are in typed arrays; they become metric lines when the metrics are read.
 */
export class LatencyHistogram {
  static readonly size = SOURCES.length * (BUCKETS + 1);

  /** Number of answers per bucket: row-major over source and bucket. Then the sum of times of each source. */
  private readonly counts: Float64Array;
  private readonly sumsMs: Float64Array;

  /** @param counts where it counts: `size` numbers, which another thread may read */
  constructor(counts: Float64Array = new Float64Array(LatencyHistogram.size)) {
    this.counts = counts.subarray(0, SOURCES.length * BUCKETS);
    this.sumsMs = counts.subarray(SOURCES.length * BUCKETS);
  }

  /** @param weight number of answers that this one represents */
  observe(source: AnswerSource, tookMs: number, weight: number): void {
    let bucket = 0;
    while (bucket < BOUNDS_MS.length && tookMs > BOUNDS_MS[bucket]) bucket++;
    this.counts[source * BUCKETS + bucket] += weight;
    this.sumsMs[source] += tookMs * weight;
  }

  /** The lines of the histogram `name`, in seconds, with the label `source`. */
  values(name: string): HistogramValue[] {
    return SOURCES.flatMap((source, i) => {
      let total = 0;
      const buckets = Array.from({ length: BUCKETS }, (_, bucket) => {
        total += this.counts[i * BUCKETS + bucket];
        const le = bucket < BOUNDS_MS.length ? String(BOUNDS_MS[bucket] / 1000) : '+Inf';
        return { metricName: `${name}_bucket`, labels: { le, source }, value: total };
      });
      const sum = this.sumsMs[i] / 1000;
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels: { source }, value: sum },
        { metricName: `${name}_count`, labels: { source }, value: total },
      ];
    });
  }
}
