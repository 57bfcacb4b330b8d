import {
  ReadMetrics,
  registerRuntimeMetrics,
  registerTlsMetrics,
  type WatchedFile,
} from '@weir/ops';
import { registerFeedMetrics } from '@weir/policy-feed/state';
import { Registry } from 'prom-client';
import type { AnswerCache } from './cache/answer-cache.js';
import { registerCacheMetrics } from './cache/cache-metrics.js';
import type { FrameSender } from './dnstap/frame-sender.js';
import type { Feed } from './feed/feed.js';
import { registerLaneMetrics } from './lanes/lane-metrics.js';
import type { Lanes } from './lanes/lanes.js';
import type { AllowedClients } from './limits/allowed-clients.js';
import { type QueryCounts, registerQueryMetrics } from './metrics/query-metrics.js';
import type { QueryLog } from './query-log/query-log.js';
import { readThread } from './threads/thread-state.js';
import type { Forwarder } from './upstream/forwarder.js';
import { registerForwarderMetrics } from './upstream/forwarder-metrics.js';

export interface MetricsSources {
  readonly counts: QueryCounts;
  readonly allowedClients: AllowedClients;
  readonly localRecords: Pick<WatchedFile<unknown>, 'faults'> | null;
  readonly kernelDrops: () => number;
  readonly unreadBytes: () => number;
  readonly tlsFaults: () => number;
  readonly cache: AnswerCache;
  readonly queryLog: QueryLog | null;
  readonly dnstap: FrameSender | null;
  readonly forwarder: Forwarder;
  readonly feed: Feed;
  /** Null: there are none. */
  readonly lanes: () => Lanes | null;
}

const PREFIX = 'weir_resolver_';

/** The metrics of a resolver. Nothing is counted here: plain counters are read when Prometheus scrapes. */
export function createRegistry(sources: MetricsSources): Registry {
  const { counts, cache, forwarder, lanes, feed, tlsFaults, queryLog, dnstap } = sources;
  const registry = new Registry();
  const metrics = new ReadMetrics(registry, PREFIX);
  registerRuntimeMetrics(registry);
  registerQueryMetrics(metrics, counts);
  registerCacheMetrics(metrics, cache);
  registerForwarderMetrics(metrics, forwarder);
  registerSocketMetrics(metrics, sources);
  registerFileMetrics(metrics, sources);
  registerTlsMetrics(registry, { DNS_TLS: tlsFaults });
  if (queryLog !== null) registerQueryLogMetrics(metrics, queryLog);
  if (dnstap !== null) registerDnstapMetrics(metrics, dnstap);
  registerLaneMetrics(metrics, lanes);
  registerFeedMetrics(registry, PREFIX, feed.state);
  metrics.gauge(
    'feed_cpu_seconds',
    'Processor time of the thread that follows the configuration; 0: it is the main thread',
    () => (feed.threadId === 0 ? 0 : readThread(feed.threadId).cpuSeconds),
  );
  return registry;
}

function registerSocketMetrics(
  metrics: ReadMetrics,
  { unreadBytes, kernelDrops }: MetricsSources,
): void {
  metrics.gauge(
    'unread_bytes',
    'Bytes of answers that clients have not read, and of HTTPS requests that are not over',
    unreadBytes,
  );
  metrics.counter(
    'udp_kernel_drops_total',
    'UDP packets that the kernel dropped because the receive buffer was full (Linux)',
    kernelDrops,
  );
}

function registerFileMetrics(
  metrics: ReadMetrics,
  { allowedClients, localRecords }: MetricsSources,
): void {
  metrics.counter(
    'allowed_clients_file_faults_total',
    'Checks at which DNS_ALLOWED_CLIENTS_FILE was not usable; the list before it stays in force',
    () => allowedClients.faults,
  );
  metrics.counter(
    'local_records_file_faults_total',
    'Checks at which LOCAL_RECORDS was not usable; the records before it stay in force',
    () => localRecords?.faults ?? 0,
  );
}

function registerQueryLogMetrics(metrics: ReadMetrics, queryLog: QueryLog): void {
  metrics.counters('query_log_total', 'Queries selected for the query log', ['result'], () => [
    [{ result: 'written' }, queryLog.sampled - queryLog.dropped],
    [{ result: 'lost' }, queryLog.dropped],
  ]);
}

function registerDnstapMetrics(metrics: ReadMetrics, dnstap: FrameSender): void {
  metrics.counters('dnstap_frames_total', 'Frames for the dnstap receiver', ['result'], () => [
    [{ result: 'sent' }, dnstap.sent],
    [{ result: 'lost' }, dnstap.lost],
  ]);
  metrics.gauge('dnstap_connected', '1: the dnstap receiver is connected', () =>
    dnstap.isConnected ? 1 : 0,
  );
}
