import { ReadMetrics, registerRuntimeMetrics } from '@weir/ops';
import { type FeedState, registerFeedMetrics } from '@weir/policy-feed';
import { Registry } from 'prom-client';
import type { CustomPages } from '../content/custom-pages.js';
import type { PageCounters } from './page-counters.js';

export interface MetricsSources {
  readonly counters: PageCounters;
  readonly custom: CustomPages;
  readonly server: { readonly connectionCount: number };
  readonly feed: () => FeedState;
}

const PREFIX = 'weir_block_page_';

/** The metrics of a block page, read from plain counters when Prometheus asks. */
export function createRegistry(sources: MetricsSources): Registry {
  const { counters, custom, server, feed } = sources;
  const registry = new Registry();
  registerRuntimeMetrics(registry);
  const metrics = new ReadMetrics(registry, PREFIX);
  metrics.counters(
    'pages_total',
    'Pages shown, by page (built-in or custom), subject and reason of the block',
    ['page', 'subject', 'reason'],
    () => Array.from(counters.pageCounts, ({ count, ...labels }) => [labels, count]),
  );
  metrics.counter('assets_total', 'Requests for files of custom pages', () => counters.assets);
  metrics.counters('refusals_total', 'Requests and connections that got no page', ['why'], () =>
    Array.from(counters.refusals, ([why, count]) => [{ why }, count]),
  );
  metrics.gauges(
    'content_missing',
    '1 for each block page of type 1 that was requested and has no content',
    ['page_id'],
    () => custom.missing.map((id) => [{ page_id: id }, 1]),
  );
  metrics.gauge('connections', 'Open connections', () => server.connectionCount);
  registerFeedMetrics(registry, PREFIX, feed);
  return registry;
}
