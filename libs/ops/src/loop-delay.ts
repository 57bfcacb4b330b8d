import { type ELDHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

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
export function registerLoopDelay(registry: Registry, prefix: string): void {
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
