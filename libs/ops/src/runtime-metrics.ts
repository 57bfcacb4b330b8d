import { constants, PerformanceObserver, type PerformanceObserverEntryList } from 'node:perf_hooks';
import { collectDefaultMetrics, Histogram, type Registry } from 'prom-client';
import { registerLoopDelay } from './loop-delay.js';

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

const collectionsOf = (list: PerformanceObserverEntryList): readonly Collection[] =>
  list.getEntries() as unknown as readonly Collection[];

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
    for (const { detail, duration } of collectionsOf(list)) {
      pauses.observe({ kind: KINDS.get(detail.kind) ?? 'other' }, duration / 1000);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
}
