import {
  type LabelledValues,
  ReadMetrics,
  registerRuntimeMetrics,
  registerTlsMetrics,
} from '@weir/ops/metrics';
import { registerFeedMetrics } from '@weir/policy-feed/metrics';
import { Registry } from 'prom-client';
import type { AnswerCache } from './cache/answer-cache.js';
import type { DnsService } from './dns-service.js';
import type { FeedThread } from './feed/feed-thread.js';
import type { Lanes } from './lanes/lanes.js';
import { registerLaneMetrics } from './lanes/lane-metrics.js';
import type { ListeningSockets } from './listeners/listening-sockets.js';
import { histogramMetric } from './metrics/histogram.js';
import type { CountsOfAll } from './metrics/thread-counts.js';
import { readThread } from './threads/thread-watch.js';
import { registerUpstreamMetrics } from './upstream/upstream-metrics.js';

function registerForwarderMetrics(
  metrics: ReadMetrics,
  { upstreams, counts }: Pick<DnsService, 'upstreams' | 'counts'>,
): void {
  registerUpstreamMetrics(metrics, upstreams, () => counts.forwarding);
  metrics.counter(
    'overloads_total',
    'Queries rejected because too many were in flight',
    () => counts.forwarding.overloads,
  );
  metrics.counter(
    'over_share_total',
    'Queries rejected because their subscriber had its share of upstream queries already',
    () => counts.forwarding.overShare,
  );
  metrics.counter(
    'dead_zone_total',
    'Queries rejected because nothing in their zone is answered',
    () => counts.forwarding.deadZone,
  );
  metrics.counter(
    'coalesced_total',
    'Queries that joined a question already in flight',
    () => counts.forwarding.coalesced,
  );
  metrics.gauge(
    'in_flight',
    'Questions that are in flight to upstreams',
    () => counts.forwarding.inFlight,
  );
  metrics.gauge('waiting', 'Queries that wait for upstreams', () => counts.forwarding.waiting);
}

const byResult = (counts: Readonly<Record<string, number>>): LabelledValues =>
  Object.entries(counts).map(([result, count]) => [{ result }, count]);

function registerCacheMetrics(metrics: ReadMetrics, cache: AnswerCache): void {
  metrics.counters(
    'cache_lookups_total',
    'Cache lookups that hit or missed, expired answers served, and popular answers refreshed before they expired',
    ['result'],
    () => byResult(cache.counters),
  );
  metrics.counter(
    'cache_evictions_total',
    'Answers and failures that a full cache has evicted while they were still of use',
    () => cache.evictions,
  );
  metrics.counter(
    'cache_skipped_writes_total',
    'Answers and failures not cached because another thread took too long, or the cache was flushed meanwhile',
    () => cache.skippedWrites,
  );
  metrics.gauge('cache_entries', 'Answers and failures in the cache', () => cache.entries);
  metrics.gauge('cache_bytes', 'Memory of the cache in use', () => cache.usedBytes);
}

function registerQueryMetrics(metrics: ReadMetrics, counts: CountsOfAll): void {
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

const PREFIX = 'weir_resolver_';

/** The metrics of a resolver. Nothing is counted here: plain counters are read when Prometheus scrapes. */
export function createRegistry(service: DnsService, feed: FeedThread): Registry {
  const { configuration, counts, cache, lanes, sockets } = service;
  const registry = new Registry();
  const metrics = new ReadMetrics(registry, PREFIX);
  registerRuntimeMetrics(registry);
  registerQueryMetrics(metrics, counts);
  registerCacheMetrics(metrics, cache);
  registerForwarderMetrics(metrics, service);
  registerSocketMetrics(metrics, counts, sockets);
  registerFileMetrics(metrics, service);
  registerTlsMetrics(registry, { DNS_TLS: service.identity });
  if (configuration.QUERY_LOG_SAMPLING !== 0) registerQueryLogMetrics(metrics, counts);
  if (configuration.DNSTAP_ENDPOINT !== undefined) registerDnstapMetrics(metrics, counts, lanes);
  registerLaneMetrics(metrics, lanes);
  registerFeedMetrics(registry, PREFIX, feed.state);
  metrics.counter(
    'feed_cpu_seconds_total',
    'Processor time of the thread that follows the configuration',
    () => readThread(feed.threadId).cpuSeconds,
  );
  return registry;
}

function registerSocketMetrics(
  metrics: ReadMetrics,
  counts: CountsOfAll,
  sockets: ListeningSockets,
): void {
  metrics.gauge(
    'unread_bytes',
    'Bytes of answers that clients have not read, and of HTTPS requests that are not over',
    () => counts.unreadBytes,
  );
  metrics.counter(
    'udp_kernel_drops_total',
    'UDP packets that the kernel dropped because the receive buffer was full (Linux)',
    () => sockets.kernelDrops(),
  );
}

function registerFileMetrics(
  metrics: ReadMetrics,
  { files: { allowedClients, localRecords } }: DnsService,
): void {
  metrics.counter(
    'allowed_clients_file_faults_total',
    'Checks at which DNS_ALLOWED_CLIENTS_FILE was not usable; the list before it stays in force',
    () => allowedClients.faults,
  );
  metrics.counter(
    'local_records_file_faults_total',
    'Checks at which LOCAL_RECORDS was not usable; the records before it stay in force',
    () => localRecords.faults,
  );
}

function registerQueryLogMetrics(metrics: ReadMetrics, counts: CountsOfAll): void {
  metrics.counters('query_log_total', 'Lines of the query log', ['result'], () => {
    const { writtenLines: written, lostLines: lost } = counts.logs;
    return byResult({ written, lost });
  });
}

function registerDnstapMetrics(metrics: ReadMetrics, counts: CountsOfAll, lanes: Lanes): void {
  metrics.counters('dnstap_frames_total', 'Frames for the dnstap receiver', ['result'], () => {
    const { sentFrames: sent, lostFrames: lost } = counts.logs;
    return byResult({ sent, lost });
  });
  metrics.gauge('dnstap_connected', '1: the dnstap receiver is connected to all threads', () =>
    counts.logs.connections === lanes.all.length ? 1 : 0,
  );
}
