import type { Follower } from '@weir/change-feed';
import { registerRuntimeMetrics } from '@weir/ops';
import { registerFeedMetrics } from '@weir/policy-feed';
import { Counter, Gauge, Registry } from 'prom-client';
import type { CustomPages } from '../content/custom-pages.js';
import type { PageCounters } from './page-counters.js';

export interface MetricsSources {
  readonly counters: PageCounters;
  readonly custom: CustomPages;
  readonly server: { readonly connectionCount: number };
  readonly follower: Follower;
}

/** The metrics of a block page, read from plain counters when Prometheus asks. */
export function createRegistry({ counters, custom, server, follower }: MetricsSources): Registry {
  const registry = new Registry();
  const registers = [registry];
  registerRuntimeMetrics(registry);
  new Counter({
    name: 'weir_block_page_pages_total',
    help: 'Pages shown, by page (built-in or custom), subject and reason of the block',
    labelNames: ['page', 'subject', 'reason'],
    registers,
    collect() {
      this.reset();
      for (const { count, ...labels } of counters.pageCounts) this.inc(labels, count);
    },
  });
  new Counter({
    name: 'weir_block_page_assets_total',
    help: 'Requests for files of custom pages',
    registers,
    collect() {
      this.reset();
      this.inc(counters.assets);
    },
  });
  new Counter({
    name: 'weir_block_page_refusals_total',
    help: 'Requests and connections that got no page',
    labelNames: ['why'],
    registers,
    collect() {
      this.reset();
      for (const [why, count] of counters.refusals) this.inc({ why }, count);
    },
  });
  new Gauge({
    name: 'weir_block_page_content_missing',
    help: '1 for each block page of type 1 that was requested and has no content',
    labelNames: ['page_id'],
    registers,
    collect() {
      this.reset();
      for (const id of custom.missing) this.set({ page_id: String(id) }, 1);
    },
  });
  new Gauge({
    name: 'weir_block_page_connections',
    help: 'Open connections',
    registers,
    collect() {
      this.set(server.connectionCount);
    },
  });
  registerFeedMetrics(registry, 'weir_block_page_', follower);
  return registry;
}
