import { registerFeedMetrics, registerReadGauge } from '@weir/policy-feed';
import { Counter, Gauge, Registry } from 'prom-client';
import type { Follower } from '@weir/change-feed';
import type { AnswerCache } from './cache/answer-cache.js';
import type { CacheCounters } from './cache/lookup-counters.js';
import type { FrameSender } from './dnstap/frame-sender.js';
import { registerRuntimeMetrics, registerTlsMetrics, type WatchedFile } from '@weir/ops';
import type { AllowedClients } from './limits/allowed-clients.js';
import { registerLaneMetrics } from './lanes/lane-metrics.js';
import type { Lanes } from './lanes/lanes.js';
import type { LimitCounts } from './limits/client-limits.js';
import { histogramMetric } from './metrics/histogram.js';
import type { LatencyHistogram } from './metrics/latency-histogram.js';
import type { ProfileCounters } from './metrics/profile-counters.js';
import { type QueryCounters, rcodeLabel } from './metrics/query-counters.js';
import type { QueryLog } from './query-log/query-log.js';
import type { Forwarder } from './upstream/forwarder.js';
import type { Upstream, UpstreamCounters } from './upstream/upstream.js';

export interface MetricsSources {
  /** What all threads have counted until now. */
  readonly counts: {
    readonly queries: QueryCounters;
    readonly profiles: ProfileCounters | null;
    readonly latencies: LatencyHistogram;
    readonly limits: LimitCounts;
  };
  readonly allowedClients: AllowedClients;
  readonly localRecords: Pick<WatchedFile<unknown>, 'faults'> | null;
  readonly kernelDrops: () => number;
  readonly unreadBytes: () => number;
  readonly tlsFaults: () => number;
  readonly cache: AnswerCache;
  readonly queryLog: QueryLog | null;
  readonly dnstap: FrameSender | null;
  readonly forwarder: Forwarder;
  readonly follower: Follower;
  /** Null: there are none. */
  readonly lanes: () => Lanes | null;
}

const PREFIX = 'weir_resolver_';

type Labels = Partial<Record<string, string>>;
type Counts = Iterable<readonly [Labels, number]>;

/** Results of attempts at an upstream: value of the label, and name of the counter. */
const UPSTREAM_RESULTS = {
  answered: 'answers',
  refused: 'errors',
  timed_out: 'timeouts',
  failed: 'failures',
} as const satisfies Record<string, keyof UpstreamCounters>;

/** Results of cache lookups: value of the label, and name of the counter. */
const CACHE_RESULTS = {
  hit: 'hits',
  miss: 'misses',
  stale: 'stale',
  prefetch: 'prefetches',
} as const satisfies Record<string, keyof CacheCounters>;

/** The metrics of a resolver. Nothing is counted here: plain counters are read when Prometheus scrapes. */
export function createRegistry({
  counts,
  allowedClients,
  localRecords,
  kernelDrops,
  unreadBytes,
  tlsFaults,
  cache,
  queryLog,
  dnstap,
  forwarder,
  follower,
  lanes,
}: MetricsSources): Registry {
  const registry = new Registry();
  registerRuntimeMetrics(registry);
  const counter = (name: string, help: string, labelNames: string[], read: () => Counts): void => {
    new Counter({
      name: `${PREFIX}${name}`,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset();
        for (const [labels, count] of read()) this.inc(labels as Record<string, string>, count);
      },
    });
  };
  const gauge = (name: string, help: string, value: () => number): void => {
    registerReadGauge(registry, `${PREFIX}${name}`, help, value);
  };
  const { upstreams } = forwarder;

  counter(
    'queries_total',
    'Queries answered',
    ['transport', 'type', 'verdict', 'reason', 'rcode'],
    () => counts.queries.answeredCounts(),
  );
  if (counts.profiles !== null) {
    counter(
      'profile_queries_total',
      'Queries answered after a decision, by active profile',
      ['profile', 'verdict', 'reason'],
      () => counts.profiles?.values() ?? [],
    );
  }
  registry.registerMetric(
    histogramMetric(
      `${PREFIX}latency_seconds`,
      'Time from query to answer. All answers that needed an upstream, ' +
        'and one in eight of the others, counted eightfold',
      (name) => counts.latencies.lines(name),
    ),
  );
  counter('dropped_total', 'Packets without an answer', ['why'], () =>
    counts.queries.droppedCounts(),
  );
  counter(
    'cache_lookups_total',
    'Cache lookups that hit or missed, expired answers served, and popular answers refreshed before they expired',
    ['result'],
    () => {
      const { counters } = cache;
      return Object.entries(CACHE_RESULTS).map(
        ([result, key]) => [{ result }, counters[key]] as const,
      );
    },
  );
  counter('cache_evictions_total', 'Answers evicted from a full cache', [], () => [
    [{}, cache.evictions],
  ]);
  counter(
    'cache_skipped_writes_total',
    'Answers and failures not cached because a thread was reading for too long, or the cache was being flushed',
    [],
    () => [[{}, cache.skippedWrites]],
  );
  gauge('cache_entries', 'Answers and failures in the cache', () => cache.entries);
  gauge('cache_bytes', 'Memory of the cache in use', () => cache.usedBytes);
  counter('upstream_queries_total', 'Queries sent to an upstream', ['upstream'], () =>
    byUpstream(upstreams, 'queries'),
  );
  counter(
    'upstream_results_total',
    'Results of attempts at an upstream',
    ['upstream', 'result'],
    () =>
      Object.entries(UPSTREAM_RESULTS).flatMap(([result, key]) =>
        byUpstream(upstreams, key).map(([labels, n]) => [{ ...labels, result }, n] as const),
      ),
  );
  counter(
    'upstream_errors_total',
    'Answers of an upstream with an error (result="refused") by RCODE',
    ['upstream', 'rcode'],
    () => errorsByRcode(upstreams),
  );
  upstreamLatency(registry, upstreams);
  upstreamUp(registry, upstreams);
  counter(
    'upstream_probes_total',
    'Queries for the name servers of the root, sent to see whether an upstream is up, and the answers to them',
    ['upstream', 'result'],
    () => [
      ...byUpstream(upstreams, 'probes').map(
        ([labels, n]) => [{ ...labels, result: 'sent' }, n] as const,
      ),
      ...byUpstream(upstreams, 'probeAnswers').map(
        ([labels, n]) => [{ ...labels, result: 'answered' }, n] as const,
      ),
    ],
  );
  counter('upstream_tcp_total', 'Queries repeated over TCP', ['upstream'], () =>
    byUpstream(upstreams, 'overTcp'),
  );
  counter(
    'upstream_batches_total',
    'System calls that sent queries to an upstream; absent where each query is sent by itself',
    ['upstream'],
    () => byBatches(upstreams, 'sent'),
  );
  counter(
    'upstream_kernel_drops_total',
    'Answers of an upstream that the kernel dropped because a receive buffer was full (Linux)',
    ['upstream'],
    () => byBatches(upstreams, 'kernelDrops'),
  );
  counter('upstream_tcp_connections_total', 'TCP and TLS connections opened', ['upstream'], () =>
    upstreams.map((upstream) => [{ upstream: upstream.name }, upstream.connections] as const),
  );
  counter(
    'upstream_strays_total',
    'Packets from an upstream that answer no query which was sent: forged or malformed',
    ['upstream'],
    () => byUpstream(upstreams, 'strays'),
  );
  counter(
    'upstream_late_total',
    'Answers of an upstream to queries that were over',
    ['upstream'],
    () => byUpstream(upstreams, 'late'),
  );
  counter(
    'upstream_suspects_total',
    'Answers that may be forged (cookie or case of letters is wrong); their questions were asked again over TCP',
    ['upstream'],
    () => byUpstream(upstreams, 'suspects'),
  );
  counter(
    'upstream_spoofs_total',
    'Ports closed because packets with wrong ids came to them; their questions were asked again over TCP',
    ['upstream'],
    () => byUpstream(upstreams, 'spoofs'),
  );
  counter(
    'upstream_tls_errors_total',
    'Connections to an upstream on which TLS failed: its certificate was not accepted, or it speaks no TLS',
    ['upstream'],
    () => byUpstream(upstreams, 'tlsErrors'),
  );
  counter(
    'error_hints_total',
    'Errors over the limit that were replaced by a hint: ask over TCP, or with a cookie',
    [],
    () => [[{}, counts.limits.slips]],
  );
  counter(
    'byte_share_truncations_total',
    'UDP answers truncated because their subscriber had its share of bytes in large answers',
    [],
    () => [[{}, counts.limits.truncations]],
  );
  counter(
    'allowed_clients_file_faults_total',
    'Checks at which DNS_ALLOWED_CLIENTS_FILE was not usable; the list before it stays in force',
    [],
    () => [[{}, allowedClients.faults]],
  );
  gauge(
    'unread_bytes',
    'Bytes of answers that clients have not read from their TCP, TLS and HTTPS connections',
    unreadBytes,
  );
  registerTlsMetrics(registry, { DNS_TLS: tlsFaults });
  counter(
    'local_records_file_faults_total',
    'Checks at which LOCAL_RECORDS was not usable; the records before it stay in force',
    [],
    () => [[{}, localRecords?.faults ?? 0]],
  );
  counter(
    'udp_kernel_drops_total',
    'UDP packets that the kernel dropped because the receive buffer was full (Linux)',
    [],
    () => [[{}, kernelDrops()]],
  );
  counter('overloads_total', 'Queries rejected because too many were in flight', [], () => [
    [{}, forwarder.overloads],
  ]);
  counter(
    'over_share_total',
    'Queries rejected because their subscriber had its share of upstream queries already',
    [],
    () => [[{}, forwarder.overShare]],
  );
  counter(
    'dead_zone_total',
    'Queries rejected because nothing in their zone is answered',
    [],
    () => [[{}, forwarder.deadZone]],
  );
  counter('coalesced_total', 'Queries that joined a question already in flight', [], () => [
    [{}, forwarder.coalesced],
  ]);
  gauge('in_flight', 'Questions that are in flight to upstreams', () => forwarder.inFlight);
  gauge('waiting', 'Queries that wait for upstreams', () => forwarder.waiting);
  if (queryLog !== null) {
    counter('query_log_total', 'Queries selected for the query log', ['result'], () => [
      [{ result: 'written' }, queryLog.sampled - queryLog.dropped],
      [{ result: 'lost' }, queryLog.dropped],
    ]);
  }
  if (dnstap !== null) {
    counter('dnstap_frames_total', 'Frames for the dnstap receiver', ['result'], () => [
      [{ result: 'sent' }, dnstap.sent],
      [{ result: 'lost' }, dnstap.lost],
    ]);
    gauge('dnstap_connected', '1: the dnstap receiver is connected', () =>
      dnstap.isConnected ? 1 : 0,
    );
  }
  registerLaneMetrics(registry, PREFIX, lanes);
  registerFeedMetrics(registry, PREFIX, follower);
  return registry;
}

function upstreamUp(registry: Registry, upstreams: readonly Upstream[]): void {
  new Gauge({
    name: `${PREFIX}upstream_up`,
    help: 'Whether an upstream is up: 0 when it has not answered the last probes',
    labelNames: ['upstream'],
    registers: [registry],
    collect() {
      for (const { name, health } of upstreams) this.set({ upstream: name }, health.isDown ? 0 : 1);
    },
  });
}

function upstreamLatency(registry: Registry, upstreams: readonly Upstream[]): void {
  new Gauge({
    name: `${PREFIX}upstream_latency_seconds`,
    help: 'Smoothed time to an answer of an upstream, to a query or a probe; 0 before the first',
    labelNames: ['upstream'],
    registers: [registry],
    collect() {
      for (const { name, latencyMs } of upstreams) this.set({ upstream: name }, latencyMs / 1000);
    },
  });
}

/** Of the upstreams that are asked in batches. */
function byBatches(
  upstreams: readonly Upstream[],
  key: 'sent' | 'kernelDrops',
): (readonly [Labels, number])[] {
  return upstreams.flatMap(({ name, batches }) =>
    batches === null ? [] : [[{ upstream: name }, batches[key]] as const],
  );
}

function byUpstream(
  upstreams: readonly Upstream[],
  key: keyof UpstreamCounters,
): (readonly [Labels, number])[] {
  return upstreams.map(({ name, counters }) => [{ upstream: name }, counters[key]] as const);
}

/** Those that are not zero. */
function* errorsByRcode(upstreams: readonly Upstream[]): Generator<readonly [Labels, number]> {
  for (const { name, errorsByRcode } of upstreams) {
    for (const [rcode, count] of errorsByRcode.entries()) {
      if (count > 0) yield [{ upstream: name, rcode: rcodeLabel(rcode) }, count];
    }
  }
}
