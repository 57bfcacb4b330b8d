import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import { hrTime } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type CollectionResult,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { Registry } from 'prom-client';

/** A metric as `Registry.getMetricsAsJSON` gives it. The types of prom-client leave the values of histograms out. */
interface RegistryMetric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly values: readonly RegistryValue[];
}

interface RegistryValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  /** Of histograms: the name with `_bucket`, `_sum` or `_count`. */
  readonly metricName?: string;
}

interface Period {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

/** Gives the series of a Prometheus registry to OpenTelemetry, under the same names and labels. */
export class RegistryProducer implements MetricProducer {
  /** Counters began with the process. */
  private readonly startTime = hrTime(0);

  constructor(private readonly registry: Registry) {}

  async collect(): Promise<CollectionResult> {
    const read = (await this.registry.getMetricsAsJSON()) as readonly unknown[];
    const period = { startTime: this.startTime, endTime: hrTime() };
    const metrics = (read as readonly RegistryMetric[])
      .filter(({ values }) => values.length > 0)
      .map((metric) => toMetricData(metric, period));
    const scopeMetrics = [{ scope: { name: 'weir' }, metrics }];
    return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] };
  }
}

function toMetricData({ name, help, type, values }: RegistryMetric, period: Period): MetricData {
  const base = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  if (type === 'histogram') {
    const dataPoints = histograms(values, period);
    return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = values.map(({ value, labels }) => {
    return { ...period, attributes: toAttributes(labels), value };
  });
  return type === 'counter'
    ? { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...base, dataPointType: DataPointType.GAUGE, dataPoints };
}

/** One point for each combination of labels. */
function histograms(values: readonly RegistryValue[], period: Period): DataPoint<Histogram>[] {
  const series = Map.groupBy(values, ({ labels }) => JSON.stringify({ ...labels, le: undefined }));
  return [...series.values()].map((parts) => {
    const attributes = toAttributes({ ...parts[0]?.labels, le: undefined });
    return { ...period, attributes, value: toHistogram(parts) };
  });
}

/** Prometheus counts all values up to each boundary, OpenTelemetry those between two boundaries. */
function toHistogram(parts: readonly RegistryValue[]): Histogram {
  const boundaries: number[] = [];
  const counts: number[] = [];
  let [sum, count, below] = [0, 0, 0];
  for (const { metricName = '', labels, value } of parts) {
    if (metricName.endsWith('_sum')) sum = value;
    else if (metricName.endsWith('_count')) count = value;
    else {
      if (labels['le'] !== '+Inf') boundaries.push(Number(labels['le']));
      counts.push(value - below);
      below = value;
    }
  }
  return { buckets: { boundaries, counts }, sum, count };
}

function toAttributes(labels: RegistryValue['labels']): Attributes {
  const given = Object.entries(labels).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}
