import type { LabelledValues, ReadMetrics } from '@weir/ops';
import type { Metric } from 'prom-client';
import type { HistogramValue } from '../metrics/latency-histogram.js';
import { BATCH_BOUNDS, type LaneCounts } from './lane-counts.js';
import type { Lane } from './lane.js';
import type { Lanes } from './lanes.js';
import { readThread } from './thread-state.js';

/** Registers what is known about each lane. */
export function registerLaneMetrics(metrics: ReadMetrics, lanes: () => Lanes | null): void {
  const all = (): readonly Lane[] => lanes()?.all ?? [];
  const byLane = (count: (lane: Lane) => number): LabelledValues =>
    all().map((one, lane) => [{ lane }, count(one)]);
  metrics.gauge(
    'lanes',
    'Threads that answer UDP queries from memory; 0: one thread does everything',
    () => all().filter(({ isRunning }) => isRunning).length,
  );
  metrics.counter(
    'lanes_replaced_total',
    'Lanes that were replaced because their thread had ended, or hung',
    () => lanes()?.replaced ?? 0,
  );
  metrics.counters('lane_answers_total', 'Answers of a lane from memory', ['lane'], () =>
    byLane(({ laneCounts }) => laneCounts.answers),
  );
  metrics.counters(
    'lane_handed_over_total',
    'Queries that a lane has handed over to the main thread',
    ['lane'],
    () => byLane(({ laneCounts }) => laneCounts.handedOver),
  );
  metrics.gauges(
    'lane_cpu_seconds',
    'Processor time of the thread of a lane; its rate is the share of a core that it uses',
    ['lane'],
    () => byLane(({ threadId }) => readThread(threadId).cpuSeconds),
  );
  const name = `${metrics.prefix}lane_batch_queries`;
  const head = {
    name,
    help: 'Queries that a lane has received with one system call',
    type: 'histogram',
    aggregator: 'sum',
  };
  const get = (): object => ({
    ...head,
    values: all().flatMap(({ laneCounts }, lane) => batchValues(name, String(lane), laneCounts)),
  });
  metrics.registry.registerMetric({ ...head, get, reset: () => undefined } as unknown as Metric);
}

/** The lines of a histogram. */
function batchValues(
  name: string,
  lane: string,
  { batches, queries }: LaneCounts,
): HistogramValue[] {
  let total = 0;
  const bucket = (le: string, value: number): HistogramValue => ({
    metricName: `${name}_bucket`,
    labels: { le, lane },
    value,
  });
  const buckets = BATCH_BOUNDS.map((bound, i) => bucket(String(bound), (total += batches[i])));
  return [
    ...buckets,
    bucket('+Inf', total),
    { metricName: `${name}_sum`, labels: { lane }, value: queries },
    { metricName: `${name}_count`, labels: { lane }, value: total },
  ];
}
