import {
  constants,
  PerformanceObserver,
  type ELDHistogram,
  monitorEventLoopDelay,
} from 'node:perf_hooks';
import { collectDefaultMetrics, Histogram, type Registry, Gauge } from 'prom-client';

const SECONDS = 1e-9;

/** They are collected in this order. */
const FIGURES: readonly [string, (histogram: ELDHistogram) => number][] = [
  ['min', ({ min }) => min],
  ['max', ({ max }) => max],
  ['mean', ({ mean }) => mean],
  ['stddev', ({ stddev }) => stddev],
  ['p50', (histogram) => histogram.percentile(50)],
  ['p90', (histogram) => histogram.percentile(90)],
  ['p99', (histogram) => histogram.percentile(99)],
];
const LAST = FIGURES.length - 1;

/**
 * Registers the delays of the event loop since the last look: how long each of its turns took, and how late the timer
 * was that began it. They take the place of those of prom-client, which wake the process a hundred times a second.
 */
function registerLoopDelay(registry: Registry, prefix: string): void {
  const histogram = monitorEventLoopDelay({ samplePerIteration: true });
  histogram.enable();
  for (const [i, [figure, read]] of FIGURES.entries()) {
    const name = `${prefix}nodejs_eventloop_lag_${figure}_seconds`;
    registry.removeSingleMetric(name);
    const gauge: Gauge = new Gauge({
      name,
      help: `Delay of the turns of the event loop: ${figure}`,
      registers: [registry],
      collect: () => {
        if (histogram.count > 0) gauge.set(read(histogram) * SECONDS);
        if (i === LAST) histogram.reset();
      },
    });
  }
}

/** An entry of the type `gc`. */
interface Collection {
  readonly detail: { readonly kind: number };
  readonly duration: number;
}

const KINDS: ReadonlyMap<number, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);
/** The longest interval. With it prom-client's timer of the event loop wakes the process every 24 days. */
const NEVER_MS = 2 ** 31 - 1;
const BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

/**
 * Registers what every process of Node.js has: processor time, memory, delay of the event loop, pauses of the main
 * thread for garbage collection.
 */
export function registerRuntimeMetrics(registry: Registry, prefix = ''): void {
  collectDefaultMetrics({ register: registry, prefix, eventLoopMonitoringPrecision: NEVER_MS });
  registerLoopDelay(registry, prefix);
  // The one of prom-client counts only the first of several collections that are reported together.
  const name = `${prefix}nodejs_gc_duration_seconds`;
  registry.removeSingleMetric(name);
  const pauses = new Histogram({
    name,
    help: 'Pauses of the main thread for garbage collection, by kind: major, minor, incremental or weakcb',
    labelNames: ['kind'],
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });
  for (const kind of KINDS.values()) pauses.zero({ kind });
  const observer = new PerformanceObserver((list) => {
    for (const { detail, duration } of list.getEntries() as unknown as readonly Collection[]) {
      pauses.observe({ kind: KINDS.get(detail.kind) ?? 'other' }, duration / 1000);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
}
