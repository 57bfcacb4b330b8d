import type { ReadMetrics } from '@weir/ops';
import type { AnswerCache } from './answer-cache.js';
import type { CacheCounters } from './lookup-counters.js';

/** Results of lookups: value of the label, and name of the counter. */
const RESULTS = {
  hit: 'hits',
  miss: 'misses',
  stale: 'stale',
  prefetch: 'prefetches',
} as const satisfies Record<string, keyof CacheCounters>;

export function registerCacheMetrics(metrics: ReadMetrics, cache: AnswerCache): void {
  metrics.counters(
    'cache_lookups_total',
    'Cache lookups that hit or missed, expired answers served, and popular answers refreshed before they expired',
    ['result'],
    () => {
      const { counters } = cache;
      return Object.entries(RESULTS).map(([result, key]) => [{ result }, counters[key]]);
    },
  );
  metrics.counter(
    'cache_evictions_total',
    'Answers evicted from a full cache',
    () => cache.evictions,
  );
  metrics.counter(
    'cache_skipped_writes_total',
    'Answers and failures not cached because a thread was reading for too long, or the cache was being flushed',
    () => cache.skippedWrites,
  );
  metrics.gauge('cache_entries', 'Answers and failures in the cache', () => cache.entries);
  metrics.gauge('cache_bytes', 'Memory of the cache in use', () => cache.usedBytes);
}
