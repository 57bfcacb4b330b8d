import type { ReadMetrics } from '@weir/ops';
import type { LimitCounts } from '../limits/client-limits.js';
import { histogramMetric } from './histogram.js';
import type { LatencyHistogram } from './latency-histogram.js';
import type { ProfileCounters } from './profile-counters.js';
import type { QueryCounters } from './query-counters.js';

/** What all threads have counted until now. */
export interface QueryCounts {
  readonly queries: QueryCounters;
  readonly profiles: ProfileCounters | null;
  readonly latencies: LatencyHistogram;
  readonly limits: LimitCounts;
}

export function registerQueryMetrics(metrics: ReadMetrics, counts: QueryCounts): void {
  metrics.counters(
    'queries_total',
    'Queries answered',
    ['transport', 'type', 'verdict', 'reason', 'rcode'],
    () => counts.queries.answeredCounts(),
  );
  if (counts.profiles !== null) {
    metrics.counters(
      'profile_queries_total',
      'Queries answered after a decision, by active profile',
      ['profile', 'verdict', 'reason'],
      () => counts.profiles?.values() ?? [],
    );
  }
  metrics.registry.registerMetric(
    histogramMetric(
      `${metrics.prefix}latency_seconds`,
      'Time from query to answer. All answers that needed an upstream, ' +
        'and one in eight of the others, counted eightfold',
      (name) => counts.latencies.lines(name),
    ),
  );
  metrics.counters('dropped_total', 'Packets without an answer', ['why'], () =>
    counts.queries.droppedCounts(),
  );
  metrics.counter(
    'rebinding_answers_total',
    'Answers of upstreams whose private addresses were removed (BLOCK_REBINDING)',
    () => counts.queries.addressRemovals,
  );
  metrics.counter(
    'error_hints_total',
    'Errors over the limit that were replaced by a hint: ask over TCP, or with a cookie',
    () => counts.limits.slips,
  );
  metrics.counter(
    'byte_share_truncations_total',
    'UDP answers truncated because their subscriber had its share of bytes in answers beyond twice the query',
    () => counts.limits.truncations,
  );
}
