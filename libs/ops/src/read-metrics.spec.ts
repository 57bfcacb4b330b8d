import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { ReadMetrics } from './read-metrics.js';

it('has the values of the moment of each scrape, and no others', async () => {
  const registry = new Registry();
  const metrics = new ReadMetrics(registry, 'weir_example_');
  const counts = new Map([
    ['a', 1],
    ['b', 2],
  ]);
  const read = (): [{ of: string }, number][] => [...counts].map(([of, n]) => [{ of }, n]);
  metrics.counter('all_total', 'All', () => counts.size);
  metrics.counters('each_total', 'Each', ['of'], read);
  metrics.gauge('size', 'All', () => counts.size);
  metrics.gauges('sizes', 'Each', ['of'], read);
  const scrape = async (): Promise<string[]> => {
    const lines = (await registry.metrics()).split('\n');
    return lines.filter((line) => line !== '' && !line.startsWith('#'));
  };
  expect(await scrape()).toEqual([
    'weir_example_all_total 2',
    'weir_example_each_total{of="a"} 1',
    'weir_example_each_total{of="b"} 2',
    'weir_example_size 2',
    'weir_example_sizes{of="a"} 1',
    'weir_example_sizes{of="b"} 2',
  ]);
  counts.delete('b');
  counts.set('a', 5);
  expect(await scrape()).toEqual([
    'weir_example_all_total 1',
    'weir_example_each_total{of="a"} 5',
    'weir_example_size 1',
    'weir_example_sizes{of="a"} 5',
  ]);
});
