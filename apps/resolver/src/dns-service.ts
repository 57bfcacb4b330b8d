import { SubscriberKey } from '@weir/clients';
import { type HashKey, parseHashKey } from '@weir/dns-name';
import type { Endpoint, Logger } from '@weir/ops';
import type { PolicySource } from '@weir/policy';
import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { BlockPages } from './answer/block-pages.js';
import { AnswerCache } from './cache/answer-cache.js';
import type { ResolverConfiguration } from './configuration.js';
import { QueryJudge } from './decision/query-judge.js';
import { ClientLimits } from './limits/client-limits.js';
import { ServerCookies } from './limits/server-cookies.js';
import { type Bound, Listeners, type ListenersConfiguration } from './listeners/listeners.js';
import { LatencyHistogram } from './metrics/latency-histogram.js';
import { QueryCounters } from './metrics/query-counters.js';
import { QueryPath } from './query/query-path.js';
import { QueryLog } from './query-log/query-log.js';
import { SpecialNames } from './special/special-names.js';
import { DISCOVERY_ZONES, LOCAL_ZONES, READINESS_ZONES } from './special/zones.js';
import { Forwarder } from './upstream/forwarder.js';

/** The part of the configuration that answering queries needs. */
export type DnsConfiguration = ListenersConfiguration &
  Pick<
    ResolverConfiguration,
    | 'BLOCK_PAGE_ADDRESSES'
    | 'BLOCK_PAGE_IPV4'
    | 'BLOCK_PAGE_IPV6'
    | 'BLOCK_RESOLVER_DISCOVERY'
    | 'BLOCK_TTL'
    | 'CACHE_MAX_TTL'
    | 'CACHE_MIN_TTL'
    | 'CACHE_SIZE_MB'
    | 'CLIENT_ERROR_RATE'
    | 'CLIENT_QUERY_RATE'
    | 'DNS_ALLOWED_CLIENTS'
    | 'DNS_COOKIE_SECRETS'
    | 'DOMAIN_HASH_KEY'
    | 'INSPECT_CNAME'
    | 'LOCAL_ZONES'
    | 'QUERY_LOG_NAMES'
    | 'QUERY_LOG_SAMPLING'
  >;

export interface DnsServiceOptions {
  readonly configuration: DnsConfiguration;
  readonly upstreams: readonly Endpoint[];
  readonly source: PolicySource;
  /** What health checks by DNS are told. Default: always ready. */
  readonly isReady?: () => boolean;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Where the query log goes. Default: standard output. */
  readonly queryLogFile?: string;
  /** Wall clock in milliseconds, for schedules. */
  readonly nowMs?: () => number;
  /** Clock of the cache and of waiting, in milliseconds; it never goes back. */
  readonly monotonicMs?: () => number;
  /** See `ForwarderOptions`. */
  readonly forwarding?: {
    readonly tryMs?: number;
    readonly patienceMs?: number;
    readonly capacity?: number;
    readonly waitingCapacity?: number;
  };
}

/** Longer than the forwarder's patience. */
const DRAIN_MS = 4_000;
const DRAIN_CHECK_MS = 10;

const MEBIBYTE = 2 ** 20;

/** Least time between two lines about the same trouble. */
const QUIET_MS = 10_000;

const elapsedMs = (): number => performance.now();

/** `report` at most once in a while: whoever causes trouble by the thousand must not fill the disk. */
function seldom<T>(report: (trouble: T) => void): (trouble: T) => void {
  let quietUntilMs = 0;
  return (trouble) => {
    if (elapsedMs() < quietUntilMs) return;
    quietUntilMs = elapsedMs() + QUIET_MS;
    report(trouble);
  };
}

function openQueryLog(configuration: DnsConfiguration, file?: string): QueryLog | null {
  const { QUERY_LOG_SAMPLING: sampling, QUERY_LOG_NAMES: showNames } = configuration;
  if (sampling === 0) return null;
  return new QueryLog({ sampling, showNames, ...(file !== undefined && { destination: file }) });
}

function cookieSecrets({ DNS_COOKIE_SECRETS }: DnsConfiguration): HashKey[] {
  const secrets = DNS_COOKIE_SECRETS ?? [randomBytes(16).toString('hex')];
  return secrets.map(parseHashKey);
}

/** Everything that answers queries, wired. */
export class DnsService {
  readonly counters = new QueryCounters();
  readonly latencies = new LatencyHistogram();
  readonly limits: ClientLimits;
  readonly cache: AnswerCache;
  readonly queryLog: QueryLog | null;
  readonly forwarder: Forwarder;
  private readonly listeners: Listeners;

  constructor(options: DnsServiceOptions) {
    const { configuration, upstreams, source, log, nowMs, forwarding } = options;
    const { isReady = () => true } = options;
    const monotonicMs = options.monotonicMs ?? elapsedMs;
    const nowSeconds = (): number => Math.floor(monotonicMs() / 1000);
    const { counters } = this;
    const hashKey = parseHashKey(configuration.DOMAIN_HASH_KEY);
    const maxTtlSeconds = configuration.CACHE_MAX_TTL;
    this.cache = new AnswerCache(
      configuration.CACHE_SIZE_MB * MEBIBYTE,
      configuration.CACHE_MIN_TTL,
      maxTtlSeconds,
    );
    this.queryLog = openQueryLog(configuration, options.queryLogFile);
    const onDefect = seldom((error: unknown) => {
      log.error({ err: error }, 'a query could not be handled');
    });
    const subscriber = new SubscriberKey(source, randomInt(2 ** 32));
    this.limits = new ClientLimits({
      queriesPerSecond: configuration.CLIENT_QUERY_RATE,
      errorsPerSecond: configuration.CLIENT_ERROR_RATE,
      subscriber,
      nowSeconds,
    });
    const path = new QueryPath({
      // First what the policy says of the client and the name …
      judge: new QueryJudge({
        source,
        hashKey,
        allowedClients: configuration.DNS_ALLOWED_CLIENTS,
        inspectTargets: configuration.INSPECT_CNAME,
        discoveryNames: new SpecialNames(
          hashKey,
          configuration.BLOCK_RESOLVER_DISCOVERY ? DISCOVERY_ZONES : [],
        ),
        localNames: new SpecialNames(hashKey, [
          ...READINESS_ZONES,
          ...(configuration.LOCAL_ZONES ? LOCAL_ZONES : []),
        ]),
        isReady,
        nowMs: nowMs ?? Date.now,
      }),
      // … then, for a blocked name, where the client is led …
      pages: new BlockPages(
        [...configuration.BLOCK_PAGE_IPV4, ...configuration.BLOCK_PAGE_IPV6],
        configuration.BLOCK_PAGE_ADDRESSES,
      ),
      blockTtlSeconds: configuration.BLOCK_TTL,
      // … and for a permitted one, what is known and who is asked. Either way the path judges the targets of the answer.
      cache: this.cache,
      maxTtlSeconds: maxTtlSeconds ?? Infinity,
      upstream: () => this.forwarder,
      nowSeconds,
      limits: this.limits,
      cookies: new ServerCookies(cookieSecrets(configuration), nowMs ?? Date.now),
      counters,
      latencies: this.latencies,
      queryLog: this.queryLog,
      nowMs: monotonicMs,
      onDefect,
    });
    this.forwarder = new Forwarder({
      ...forwarding,
      upstreams,
      outcome: path,
      nowMs: monotonicMs,
      onState: ({ name }, answers) => {
        if (answers) log.info({ upstream: name }, 'upstream answers again');
        else log.warn({ upstream: name }, 'upstream does not answer');
      },
    });
    this.listeners = new Listeners({
      configuration,
      handler: path,
      counters,
      subscriber,
      nowMs: monotonicMs,
      log,
      onFault: seldom((error: Error) => {
        log.error({ reason: error.message }, 'error of a listening socket');
      }),
    });
  }

  /** Opens upstream sockets, then listens. @throws StartError when a port is taken. */
  async start(): Promise<Bound> {
    await this.forwarder.open();
    try {
      return await this.listeners.start();
    } catch (error) {
      this.forwarder.close();
      throw error;
    }
  }

  /** Takes no more queries, answers those that are in flight, then closes. */
  async stop(): Promise<void> {
    this.listeners.drain();
    const deadlineMs = elapsedMs() + DRAIN_MS;
    while (this.forwarder.waiting > 0 && elapsedMs() < deadlineMs) await sleep(DRAIN_CHECK_MS);
    this.forwarder.close();
    await this.listeners.stop();
    await this.queryLog?.close();
  }
}
