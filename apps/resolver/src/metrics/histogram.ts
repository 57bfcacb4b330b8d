import type { Metric } from 'prom-client';

/** One line of a Prometheus histogram. */
export interface HistogramValue {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * Counts values by size, in memory that another thread may read: the numbers of each bucket, then the sum of the
 * values. They become metric lines when the metrics are read. The histograms of prom-client allocate for each value.
 */
export class Histogram {
  static sizeFor(bounds: readonly number[]): number {
    return bounds.length + 2;
  }

  /**
   * @param bounds upper bounds of the buckets. One more bucket takes everything above the last.
   * @param counts where it counts: `sizeFor(bounds)` numbers
   */
  constructor(
    private readonly bounds: readonly number[],
    private readonly counts: Float64Array,
  ) {}

  /** @param weight number of values that this one represents */
  observe(value: number, weight = 1): void {
    const { bounds, counts } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]) bucket++;
    counts[bucket] += weight;
    counts[bounds.length + 1] += value * weight;
  }

  get count(): number {
    let count = 0;
    for (let bucket = 0; bucket <= this.bounds.length; bucket++) count += this.counts[bucket];
    return count;
  }

  get sum(): number {
    return this.counts[this.bounds.length + 1];
  }

  lines(name: string, labels: HistogramValue['labels']): HistogramValue[] {
    let total = 0;
    const buckets = [...this.bounds.map(String), '+Inf'].map((le, bucket) => {
      total += this.counts[bucket];
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: total };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.sum },
      { metricName: `${name}_count`, labels, value: total },
    ];
  }
}

/** A histogram in the shape that the registry reads. @param lines `Histogram.lines`, by the name of the metric */
export function histogramMetric(
  name: string,
  help: string,
  lines: (name: string) => readonly HistogramValue[],
): Metric {
  const head = { name, help, type: 'histogram', aggregator: 'sum' };
  const get = (): object => ({ ...head, values: lines(name) });
  return { ...head, get, reset: () => undefined } as unknown as Metric;
}
