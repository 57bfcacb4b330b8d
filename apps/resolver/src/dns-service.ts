import { SubscriberKey } from '@weir/clients';
import { type HashKey, parseHashKey } from '@weir/dns-name';
import { type LineOutput, type Logger, readVersion, type UpstreamEndpoint } from '@weir/ops';
import type { PolicySource } from '@weir/policy';
import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { BlockPages } from './answer/block-pages.js';
import { designatedResolvers } from './answer/designated-resolvers.js';
import { AnswerCache } from './cache/answer-cache.js';
import { TargetHasher } from './cache/target-hasher.js';
import type { ResolverConfiguration } from './configuration.js';
import { PolicyLookup } from './decision/policy-lookup.js';
import { QueryDecider } from './decision/query-decider.js';
import { TargetInspector } from './decision/target-inspector.js';
import { Dnstap } from './dnstap/dnstap.js';
import { FrameSender } from './dnstap/frame-sender.js';
import { FailingZones } from './failures/failing-zones.js';
import type { WatchedFile } from '@weir/ops';
import { AllowedClients } from './limits/allowed-clients.js';
import { ClientLimits } from './limits/client-limits.js';
import { ServerCookies } from './limits/server-cookies.js';
import {
  type BoundAddresses,
  Listeners,
  type ListenersConfiguration,
} from './listeners/listeners.js';
import { openLocalRecords } from './local-records/local-records-file.js';
import { LocalRecords } from './local-records/local-records.js';
import { LatencyHistogram } from './metrics/latency-histogram.js';
import { ProfileCounters } from './metrics/profile-counters.js';
import { QueryCounters } from './metrics/query-counters.js';
import { QueryLog } from './query-log/query-log.js';
import { QueryPath } from './query-path/query-path.js';
import { ServerIdentity } from './special/server-identity.js';
import { SpecialNameTable } from './special/special-name-table.js';
import {
  DESIGNATION_ZONES,
  DISCOVERY_ZONES,
  LOCAL_ZONES,
  READINESS_ZONES,
} from './special/special-names.js';
import { Forwarder } from './upstream/forwarder.js';
import { openFilesLimit, portsFor } from './upstream/open-files.js';
import { trustedAuthorities } from './upstream/trusted-authorities.js';

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
    | 'CACHE_NXDOMAIN_CUT'
    | 'CACHE_SIZE_MB'
    | 'CACHE_STALE_AFTER_MS'
    | 'CLIENT_ERROR_RATE'
    | 'CLIENT_QUERY_RATE'
    | 'CLIENT_TLS_HANDSHAKE_RATE'
    | 'CLIENT_UDP_BYTE_RATE'
    | 'CLIENT_UPSTREAM_QUERIES'
    | 'CLIENT_WAITING_QUERIES'
    | 'DNS_ALLOWED_CLIENTS'
    | 'DNS_ALLOWED_CLIENTS_FILE'
    | 'DNS_COOKIE_SECRETS'
    | 'DNS_DESIGNATED_HTTPS_PORT'
    | 'DNS_DESIGNATED_NAME'
    | 'DNS_DESIGNATED_TLS_PORT'
    | 'DNS_SERVER_ID'
    | 'DNSTAP_ADDRESSES'
    | 'DNSTAP_ENDPOINT'
    | 'DNSTAP_NAMES'
    | 'DNSTAP_SAMPLING'
    | 'DOMAIN_HASH_KEY'
    | 'INSPECT_CNAME'
    | 'LOCAL_RECORDS'
    | 'LOCAL_ZONES'
    | 'METRICS_PROFILES'
    | 'QUERY_LOG_NAMES'
    | 'QUERY_LOG_SAMPLING'
    | 'UPSTREAM_0X20'
    | 'UPSTREAM_COOKIES'
    | 'UPSTREAM_PORTS'
    | 'UPSTREAM_TLS_CA'
    | 'ZONE_UPSTREAM_QUERIES'
  >;

export interface DnsServiceOptions {
  readonly configuration: DnsConfiguration;
  readonly upstreams: readonly UpstreamEndpoint[];
  readonly source: PolicySource;
  /** The answer to health checks by DNS. Default: always ready. */
  readonly isReady?: () => boolean;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Interval between checks of the file of local records, in milliseconds. */
  readonly fileCheckMs?: number;
  /** Destination of the query log. Default: standard output. */
  readonly queryLogOutput?: LineOutput;
  /** Wall clock in milliseconds, for schedules. */
  readonly nowMs?: () => number;
  /** Monotonic clock of the cache and of timeouts, in milliseconds. */
  readonly monotonicMs?: () => number;
  /** See `ForwarderOptions`. */
  readonly forwarding?: {
    readonly attemptTimeoutMs?: number;
    readonly queryTimeoutMs?: number;
    readonly capacity?: number;
    readonly waitingCapacity?: number;
  };
}

/** Longer than the query timeout of the forwarder. */
const DRAIN_MS = 4_000;
const DRAIN_CHECK_MS = 10;

const MEBIBYTE = 2 ** 20;

/** Minimum time between two log lines about the same problem. */
const LOG_INTERVAL_MS = 10_000;

const elapsedMs = (): number => performance.now();

/** Calls `report` at most once per interval, so that a client that causes many errors cannot fill the disk. */
function throttled<T>(report: (problem: T) => void): (problem: T) => void {
  let quietUntilMs = 0;
  return (problem) => {
    if (elapsedMs() < quietUntilMs) return;
    quietUntilMs = elapsedMs() + LOG_INTERVAL_MS;
    report(problem);
  };
}

function openQueryLog(configuration: DnsConfiguration, output?: LineOutput): QueryLog | null {
  const { QUERY_LOG_SAMPLING: sampling, QUERY_LOG_NAMES: showNames } = configuration;
  if (sampling === 0) return null;
  return new QueryLog({ sampling, showNames, ...(output !== undefined && { output }) });
}

function createDnstap(
  configuration: DnsConfiguration,
  sender: FrameSender,
  nowMs: () => number,
): Dnstap {
  return new Dnstap({
    sender,
    sampling: configuration.DNSTAP_SAMPLING,
    showNames: configuration.DNSTAP_NAMES,
    showAddresses: configuration.DNSTAP_ADDRESSES,
    identity: configuration.DNS_SERVER_ID,
    version: `weir ${readVersion(new URL('../package.json', import.meta.url), {})}`,
    nowMs,
  });
}

function cookieSecrets({ DNS_COOKIE_SECRETS }: DnsConfiguration): HashKey[] {
  const secrets = DNS_COOKIE_SECRETS ?? [randomBytes(16).toString('hex')];
  return secrets.map(parseHashKey);
}

function upstreamPorts(
  { UPSTREAM_PORTS: wanted }: DnsConfiguration,
  upstreamCount: number,
  log: Pick<Logger, 'warn'>,
): number {
  const openFiles = openFilesLimit();
  const ports = portsFor(wanted, upstreamCount, openFiles);
  if (ports < wanted) log.warn({ ports, openFiles }, 'fewer UPSTREAM_PORTS: too few open files');
  return ports;
}

/** Wires everything that answers queries. */
export class DnsService {
  readonly counters = new QueryCounters();
  readonly latencies = new LatencyHistogram();
  readonly allowedClients: AllowedClients;
  /** Null: there is no file of local records. */
  readonly localRecords: WatchedFile<LocalRecords> | null;
  readonly limits: ClientLimits;
  readonly cache: AnswerCache;
  readonly profileCounters: ProfileCounters | null;
  readonly queryLog: QueryLog | null;
  readonly dnstapSender: FrameSender | null;
  readonly forwarder: Forwarder;
  readonly failingZones: FailingZones;
  private readonly listeners: Listeners;

  constructor(options: DnsServiceOptions) {
    const { configuration, upstreams, source, log, nowMs, forwarding } = options;
    const { isReady = () => true } = options;
    const monotonicMs = options.monotonicMs ?? elapsedMs;
    const nowSeconds = (): number => Math.floor(monotonicMs() / 1000);
    const { counters } = this;
    const hashKey = parseHashKey(configuration.DOMAIN_HASH_KEY);
    const maxTtlSeconds = configuration.CACHE_MAX_TTL;
    this.cache = new AnswerCache({
      sizeBytes: configuration.CACHE_SIZE_MB * MEBIBYTE,
      minTtlSeconds: configuration.CACHE_MIN_TTL,
      ...(maxTtlSeconds !== undefined && { maxTtlSeconds }),
      targetHasher: configuration.INSPECT_CNAME ? new TargetHasher(hashKey) : null,
    });
    const { METRICS_PROFILES: profiles } = configuration;
    this.profileCounters = profiles === 0 ? null : new ProfileCounters(profiles);
    this.queryLog = openQueryLog(configuration, options.queryLogOutput);
    const { DNSTAP_ENDPOINT: receiver } = configuration;
    this.dnstapSender = receiver === undefined ? null : new FrameSender({ receiver, log });
    const onDefect = throttled((error: unknown) => {
      log.error({ err: error }, 'a query could not be handled');
    });
    const subscriber = new SubscriberKey(source, randomInt(2 ** 32));
    this.limits = new ClientLimits({
      queriesPerSecond: configuration.CLIENT_QUERY_RATE,
      errorsPerSecond: configuration.CLIENT_ERROR_RATE,
      handshakesPerSecond: configuration.CLIENT_TLS_HANDSHAKE_RATE,
      bytesPerSecond: configuration.CLIENT_UDP_BYTE_RATE,
      subscriber,
      nowSeconds,
    });
    this.allowedClients = new AllowedClients({
      networks: configuration.DNS_ALLOWED_CLIENTS,
      file: configuration.DNS_ALLOWED_CLIENTS_FILE,
      log,
    });
    const { LOCAL_RECORDS: localRecordsFile } = configuration;
    this.localRecords =
      localRecordsFile === undefined
        ? null
        : openLocalRecords(localRecordsFile, hashKey, log, options.fileCheckMs);
    const policyLookup = new PolicyLookup({
      source,
      hashKey,
      allowedClients: this.allowedClients,
      nowMs: nowMs ?? Date.now,
    });
    const targetInspector = new TargetInspector({
      source,
      policyLookup,
      isEnabled: configuration.INSPECT_CNAME,
    });
    const serverIdentity = new ServerIdentity(configuration.DNS_SERVER_ID);
    const designated = designatedResolvers(configuration);
    const path = new QueryPath({
      // First what the policy says about the client and the name …
      decider: new QueryDecider({
        policyLookup,
        discoveryNames: new SpecialNameTable(hashKey, [
          ...(configuration.BLOCK_RESOLVER_DISCOVERY ? DISCOVERY_ZONES : []),
          ...(designated.length > 0 ? DESIGNATION_ZONES : []),
        ]),
        localNames: new SpecialNameTable(hashKey, [
          ...READINESS_ZONES,
          ...(configuration.LOCAL_ZONES ? LOCAL_ZONES : []),
        ]),
        localRecords: this.localRecords ?? { value: LocalRecords.none },
        targetInspector,
        rewriteTtlSeconds: configuration.BLOCK_TTL,
        serverIdentity,
        isReady,
      }),
      // … then, for a blocked name, the block page …
      pages: new BlockPages(
        [...configuration.BLOCK_PAGE_IPV4, ...configuration.BLOCK_PAGE_IPV6],
        configuration.BLOCK_PAGE_ADDRESSES,
      ),
      blockTtlSeconds: configuration.BLOCK_TTL,
      designatedResolvers: designated,
      serverIdentity,
      // … and for a permitted name, the cache and the upstreams. The targets of either answer are inspected.
      targetInspector,
      cache: this.cache,
      keep: this.cache.put.bind(this.cache),
      hasNxDomainCut: configuration.CACHE_NXDOMAIN_CUT,
      maxTtlSeconds: maxTtlSeconds ?? Infinity,
      upstream: () => this.forwarder,
      nowSeconds,
      limits: this.limits,
      cookies: new ServerCookies(cookieSecrets(configuration), nowMs ?? Date.now),
      counters,
      profileCounters: this.profileCounters,
      latencies: this.latencies,
      queryLog: this.queryLog,
      dnstap: this.dnstapSender && createDnstap(configuration, this.dnstapSender, monotonicMs),
      nowMs: monotonicMs,
      onDefect,
    });
    this.failingZones = new FailingZones({
      key: hashKey,
      showNames: configuration.QUERY_LOG_NAMES,
      nowSeconds,
    });
    this.forwarder = new Forwarder({
      ...forwarding,
      upstreams,
      hasMixedCase: configuration.UPSTREAM_0X20,
      hasCookies: configuration.UPSTREAM_COOKIES,
      portsPerUpstream: upstreamPorts(configuration, upstreams.length, log),
      events: path,
      nowMs: monotonicMs,
      staleAfterMs: configuration.CACHE_STALE_AFTER_MS,
      share: {
        subscriber,
        maxQuestions: configuration.CLIENT_UPSTREAM_QUERIES,
        maxWaiting: configuration.CLIENT_WAITING_QUERIES,
      },
      zones: {
        maxQuestions: configuration.ZONE_UPSTREAM_QUERIES,
        key: parseHashKey(randomBytes(16).toString('hex')),
      },
      onFailure: this.failingZones.record.bind(this.failingZones),
      onStateChange: ({ name }, answers) => {
        if (answers) log.info({ upstream: name }, 'upstream answers again');
        else log.warn({ upstream: name }, 'upstream does not answer');
      },
      secureContext: trustedAuthorities(configuration.UPSTREAM_TLS_CA),
      onTlsError: ({ name }, { message: reason }) => {
        log.error({ upstream: name, reason }, 'upstream is not trusted: TLS has failed');
      },
    });
    this.listeners = new Listeners({
      configuration,
      handler: path,
      counters,
      subscriber,
      limits: this.limits,
      nowMs: monotonicMs,
      log,
      onError: throttled((error: Error) => {
        log.error({ reason: error.message }, 'error of a listening socket');
      }),
    });
  }

  /** Opens upstream sockets, then listens. @throws StartError when a port is taken */
  async start(): Promise<BoundAddresses> {
    await this.forwarder.open();
    try {
      const addresses = await this.listeners.start();
      this.dnstapSender?.open();
      return addresses;
    } catch (error) {
      this.forwarder.close();
      throw error;
    }
  }

  /** Number of UDP queries that the kernel dropped because a receive buffer was full. */
  kernelDrops(): number {
    return this.listeners.kernelDrops();
  }

  /** Bytes of answers that clients have not read from their connections. */
  get unreadBytes(): number {
    return this.listeners.unreadBytes;
  }

  /** Accepts no more queries, answers those in flight, then closes. */
  async stop(): Promise<void> {
    this.listeners.drain();
    const deadlineMs = elapsedMs() + DRAIN_MS;
    while (this.forwarder.waiting > 0 && elapsedMs() < deadlineMs) await sleep(DRAIN_CHECK_MS);
    this.forwarder.close();
    await this.listeners.stop();
    this.allowedClients.close();
    this.localRecords?.close();
    this.queryLog?.flush();
    await this.dnstapSender?.close();
  }
}
