import { setImmediate } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { registerRuntimeMetrics } from './runtime-metrics.js';

const FIGURES = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'];
const BLOCK_MS = 60;
const TURNS = 100;

async function readDelays(registry: Registry): Promise<Record<string, number>> {
  const metrics = await registry.getMetricsAsJSON();
  return Object.fromEntries(
    FIGURES.map((figure) => {
      const found = metrics.filter(({ name }) => name === `nodejs_eventloop_lag_${figure}_seconds`);
      return [figure, found.length === 1 ? found[0].values[0].value : NaN];
    }),
  );
}

it('measures each turn of the event loop, the short and the long ones', async () => {
  const registry = new Registry();
  registerRuntimeMetrics(registry);
  for (let i = 0; i < TURNS; i++) await setImmediate();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCK_MS);
  await setImmediate();
  const { min, max, mean, stddev, p50, p90, p99 } = await readDelays(registry);
  expect(max).toBeGreaterThanOrEqual(BLOCK_MS / 1000);
  // Shorter than the sampling interval of prom-client.
  expect(min).toBeLessThan(0.01);
  expect(mean).toBeLessThan(max);
  expect(stddev).toBeGreaterThan(0);
  expect([p50, p90, p99]).toEqual([p50, p90, p99].sort((a, b) => a - b));
});

it('begins again after each look', async () => {
  const registry = new Registry();
  registerRuntimeMetrics(registry);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCK_MS);
  await setImmediate();
  const first = await readDelays(registry);
  await setImmediate();
  const second = await readDelays(registry);
  expect(second).not.toEqual(first);
});
