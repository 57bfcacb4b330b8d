import { Counter, Gauge, type Registry } from 'prom-client';
import { histogramMetric, type HistogramValue } from '../metrics/histogram.js';
import type { LaneCounts } from './lane-counts.js';
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
  counter('lane_naps_total', 'Naps of UDP_NAP_US after a batch', ({ naps }) => naps);
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
  const histogram = (
    name: string,
    help: string,
    linesOf: (counts: LaneCounts, name: string, lane: string) => HistogramValue[],
  ): void => {
    const lines = (metric: string): HistogramValue[] =>
      all().flatMap(({ laneCounts }, lane) => linesOf(laneCounts, metric, String(lane)));
    registry.registerMetric(histogramMetric(`${prefix}${name}`, help, lines));
  };
  histogram(
    'lane_batch_queries',
    'Queries that a lane has received with one system call',
    ({ batches }, name, lane) => batches.lines(name, { lane }),
  );
  histogram(
    'lane_turn_seconds',
    'Time from the receipt of a batch until its answers are sent: as long, the next queries wait',
    ({ turns }, name, lane) => turns.lines(name, { lane }),
  );
  histogram(
    'lane_gc_duration_seconds',
    'Pauses of a lane for garbage collection, by kind as in nodejs_gc_duration_seconds',
    ({ collections }, name, lane) =>
      Object.entries(collections).flatMap(([kind, one]) => one.lines(name, { lane, kind })),
  );
}
