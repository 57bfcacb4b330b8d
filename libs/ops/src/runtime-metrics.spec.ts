import { PerformanceObserver } from 'node:perf_hooks';
import { Registry } from 'prom-client';
import { expect, it, onTestFinished } from 'vitest';
import { registerRuntimeMetrics } from './runtime-metrics.js';

it('has a sample of each kind of garbage collection from the start', async () => {
  const registry = new Registry();
  registerRuntimeMetrics(registry);
  const text = await registry.getSingleMetricAsString('nodejs_gc_duration_seconds');
  for (const kind of ['major', 'minor', 'incremental', 'weakcb']) {
    expect(text).toMatch(new RegExp(`_bucket\\{le="\\+Inf",kind="${kind}"\\} \\d`));
  }
});

it('counts every garbage collection, also when several are reported together', async () => {
  const registry = new Registry();
  registerRuntimeMetrics(registry, 'x_');
  let collections = 0;
  let seconds = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      collections++;
      seconds += duration / 1000;
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  onTestFinished(() => {
    observer.disconnect();
  });
  // Without a pause of the thread, so that nothing is reported meanwhile.
  const kept: object[] = [];
  for (let i = 0; i < 2_000_000; i++) kept.push({ i });
  await expect.poll(() => collections).toBeGreaterThan(1);
  const { values } = await registry.getSingleMetric('x_nodejs_gc_duration_seconds')!.get();
  const sumOf = (suffix: string): number =>
    (values as readonly { metricName?: string; value: number }[])
      .filter(({ metricName }) => metricName?.endsWith(suffix))
      .reduce((sum, { value }) => sum + value, 0);
  expect(sumOf('_count')).toBe(collections);
  expect(sumOf('_sum')).toBeCloseTo(seconds, 6);
});
