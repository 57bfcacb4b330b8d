import { DataPointType } from '@opentelemetry/sdk-metrics';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { RegistryProducer } from './registry-producer.js';

async function collect(registry: Registry) {
  const { resourceMetrics } = await new RegistryProducer(registry).collect();
  return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
}

describe('RegistryProducer', () => {
  it('gives a counter as a sum that only grows, with its labels', async () => {
    const registry = new Registry();
    const registers = [registry];
    const counter = new Counter({ name: 'a_total', help: 'A', labelNames: ['kind'], registers });
    counter.inc({ kind: 'x' }, 3);
    counter.inc({ kind: 'y' }, 4);
    const [metric] = await collect(registry);
    expect(metric).toMatchObject({
      descriptor: { name: 'a_total', description: 'A' },
      dataPointType: DataPointType.SUM,
      isMonotonic: true,
      dataPoints: [
        { attributes: { kind: 'x' }, value: 3 },
        { attributes: { kind: 'y' }, value: 4 },
      ],
    });
  });

  it('reads the value of a gauge when it collects', async () => {
    const registry = new Registry();
    let value = 1;
    new Gauge({
      name: 'g',
      help: 'G',
      registers: [registry],
      collect() {
        this.set(value);
      },
    });
    value = 2.5;
    expect(await collect(registry)).toMatchObject([
      { dataPointType: DataPointType.GAUGE, dataPoints: [{ value: 2.5, attributes: {} }] },
    ]);
  });

  it('gives a histogram as counts between its boundaries, one point for each combination of labels', async () => {
    const registry = new Registry();
    const histogram = new Histogram({
      name: 'h_seconds',
      help: 'H',
      labelNames: ['way'],
      buckets: [0.1, 1],
      registers: [registry],
    });
    for (const seconds of [0.05, 0.1, 0.5, 2]) histogram.observe({ way: 'udp' }, seconds);
    histogram.observe({ way: 'tcp' }, 3);
    const [metric] = await collect(registry);
    expect(metric?.dataPointType).toBe(DataPointType.HISTOGRAM);
    expect(metric?.dataPoints).toMatchObject([
      {
        attributes: { way: 'udp' },
        value: { buckets: { boundaries: [0.1, 1], counts: [2, 1, 1] }, sum: 2.65, count: 4 },
      },
      { attributes: { way: 'tcp' }, value: { buckets: { counts: [0, 0, 1] }, sum: 3, count: 1 } },
    ]);
  });

  it('leaves out what has no series yet', async () => {
    const registry = new Registry();
    new Counter({ name: 'b_total', help: 'B', labelNames: ['kind'], registers: [registry] });
    expect(await collect(registry)).toEqual([]);
  });
});
