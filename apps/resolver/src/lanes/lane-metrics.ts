import { Counter, Gauge, type Metric, type Registry } from 'prom-client';
import type { HistogramValue } from '../metrics/latency-histogram.js';
import { BATCH_BOUNDS, type LaneCounts } from './lane-counts.js';
import type { Lanes } from './lanes.js';
import { readThread } from './thread-state.js';

/** Registers what is known about each lane. */
export function registerLaneMetrics(
  registry: Registry,
  prefix: string,
  lanes: () => Lanes | null,
): void {
  const all = (): readonly Lanes['all'][number][] => lanes()?.all ?? [];
  const registers = [registry];
  new Gauge({
    name: `${prefix}lanes`,
    help: 'Threads that answer UDP queries from memory; 0: one thread does everything',
    registers,
    collect() {
      this.set(all().filter(({ isRunning }) => isRunning).length);
    },
  });
  new Counter({
    name: `${prefix}lanes_replaced_total`,
    help: 'Lanes that were replaced because their thread had ended, or hung',
    registers,
    collect() {
      this.reset();
      this.inc(lanes()?.replaced ?? 0);
    },
  });
  const counter = (name: string, help: string, count: (counts: LaneCounts) => number): void => {
    new Counter({
      name: `${prefix}${name}`,
      help,
      labelNames: ['lane'],
      registers,
      collect() {
        this.reset();
        for (const [lane, one] of all().entries()) this.inc({ lane }, count(one.laneCounts));
      },
    });
  };
  counter('lane_answers_total', 'Answers of a lane from memory', ({ answers }) => answers);
  counter(
    'lane_handed_over_total',
    'Queries that a lane has handed over to the main thread',
    ({ handedOver }) => handedOver,
  );
  new Gauge({
    name: `${prefix}lane_cpu_seconds`,
    help: 'Processor time of the thread of a lane; its rate is the share of a core that it uses',
    labelNames: ['lane'],
    registers,
    collect() {
      for (const [lane, { threadId }] of all().entries())
        this.set({ lane }, readThread(threadId).cpuSeconds);
    },
  });
  const name = `${prefix}lane_batch_queries`;
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
  registry.registerMetric({ ...head, get, reset: () => undefined } as unknown as Metric);
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
