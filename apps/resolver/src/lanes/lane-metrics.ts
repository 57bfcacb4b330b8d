import type { LabelledValues, ReadMetrics } from '@weir/ops/metrics';
import { histogramMetric, type HistogramValue } from '../metrics/histogram.js';
import type { LaneCounts } from './lane-counts.js';
import type { UdpLane } from './lane.js';
import type { Lanes } from './lanes.js';
import { readThread } from '../threads/thread-watch.js';

/** Registers what is known about each lane. */
export function registerLaneMetrics(metrics: ReadMetrics, lanes: Lanes): void {
  const { udp, streams } = lanes;
  const byLane = (count: (lane: UdpLane) => number): LabelledValues =>
    udp.map((one, lane) => [{ lane }, count(one)]);
  metrics.gauge(
    'lanes',
    'Threads that answer UDP queries',
    () => udp.filter(({ isRunning }) => isRunning).length,
  );
  metrics.gauge(
    'lanes_awake',
    'Lanes that get queries; the others are parked until the load needs them',
    () => lanes.awakeCount,
  );
  metrics.counters('lane_answers_total', 'Answers of a lane', ['lane'], () =>
    byLane(({ laneCounts }) => laneCounts.answers),
  );
  metrics.counters(
    'lane_receive_errors_total',
    'Failures of a lane to receive queries',
    ['lane'],
    () => byLane(({ laneCounts }) => laneCounts.receiveErrors),
  );
  metrics.counters('lane_naps_total', 'Naps of UDP_NAP_US after a batch', ['lane'], () =>
    byLane(({ laneCounts }) => laneCounts.naps),
  );
  metrics.counters(
    'lane_cpu_seconds_total',
    'Processor time of the thread of a lane; its rate is the share of a core that it uses',
    ['lane'],
    () => byLane(({ threadId }) => readThread(threadId).cpuSeconds),
  );
  metrics.counters(
    'stream_lane_cpu_seconds_total',
    'Processor time of a thread for TCP, TLS and HTTPS; its rate is the share of a core that it uses',
    ['lane'],
    () => streams.map(({ threadId }, lane) => [{ lane }, readThread(threadId).cpuSeconds]),
  );
  const histogram = (
    name: string,
    help: string,
    linesOf: (counts: LaneCounts, name: string, lane: string) => HistogramValue[],
  ): void => {
    const lines = (metric: string): HistogramValue[] =>
      udp.flatMap(({ laneCounts }, lane) => linesOf(laneCounts, metric, String(lane)));
    metrics.registry.registerMetric(histogramMetric(`${metrics.prefix}${name}`, help, lines));
  };
  histogram(
    'lane_batch_queries',
    'Queries that a lane has received with one system call',
    ({ batches }, name, lane) => batches.lines(name, { lane }),
  );
  histogram(
    'lane_turn_seconds',
    'Time of a turn with queries or answers of upstreams, until what follows is sent; the next ones wait meanwhile',
    ({ turns }, name, lane) => turns.lines(name, { lane }),
  );
}
