import { ReadMetrics, registerRuntimeMetrics } from '@weir/ops/metrics';
import type { FeedState } from '@weir/policy-feed';
import { registerFeedMetrics } from '@weir/policy-feed/metrics';
import { Registry } from 'prom-client';
import type { CustomPages } from '../content/custom-pages.js';
import type { PageSubject } from '../page/subject.js';

/** Why a request got no page. */
const REFUSALS = [
  /** A request for an image, a script or data, or with another method. */
  'no_page',
  'rate',
  /** A trusted proxy sent an invalid address of the visitor. */
  'unknown_visitor',
  /** Not HTTP, or larger than allowed. */
  'malformed',
  /** Too many connections. */
  'crowded',
  /** An invalid PROXY protocol header. */
  'unproxied',
  /** Handling it failed: a defect. */
  'defect',
] as const;
export type Refusal = (typeof REFUSALS)[number];

interface PageCount {
  readonly page: 'built_in' | 'custom';
  readonly subject: PageSubject['kind'];
  /** Empty if the subject is not a blocked name. */
  readonly reason: string;
  count: number;
}

export class PageCounters {
  assets = 0;
  readonly refusals = new Map<Refusal, number>(REFUSALS.map((refusal) => [refusal, 0]));
  private readonly pages = new Map<string, PageCount>();

  get pageCounts(): Iterable<PageCount> {
    return this.pages.values();
  }

  countPage(page: PageCount['page'], subject: PageSubject): void {
    const reason = subject.kind === 'blocked' ? subject.reason.code : '';
    const key = `${page} ${subject.kind} ${reason}`;
    const counted = this.pages.get(key);
    if (counted === undefined)
      this.pages.set(key, { page, subject: subject.kind, reason, count: 1 });
    else counted.count++;
  }

  refuse(refusal: Refusal): void {
    this.refusals.set(refusal, (this.refusals.get(refusal) ?? 0) + 1);
  }
}

interface MetricsSources {
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
