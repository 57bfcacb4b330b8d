import { SubscriberKey } from '@weir/clients';
import { type HashKey, parseHashKey } from '@weir/dns-name';
import {
  CidrSet,
  type LineOutput,
  type Logger,
  readVersion,
  type UpstreamEndpoint,
  type WatchedFile,
} from '@weir/ops';
import type { PolicySource, QueryPolicy } from '@weir/policy';
import { loadSystemCalls } from '@weir/udp-batch';
import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AnswerCache } from './cache/answer-cache.js';
import { TargetHasher } from './cache/target-hasher.js';
import { type SetTimes, withTimes } from './clocks.js';
import type { DnsConfiguration } from './configuration.js';
import { createForwarder, type ForwardingLimits } from './create-forwarder.js';
import { Dnstap } from './dnstap/dnstap.js';
import { FrameSender } from './dnstap/frame-sender.js';
import { FailingZones } from './failures/failing-zones.js';
import { laneCount } from './lanes/lane-count.js';
import { laneConfiguration } from './lanes/lane-task.js';
import { Lanes } from './lanes/lanes.js';
import { AllowedClients } from './limits/allowed-clients.js';
import { ClientLimits } from './limits/client-limits.js';
import { ServerCookies } from './limits/server-cookies.js';
import { type BoundAddresses, Listeners } from './listeners/listeners.js';
import { openLocalRecords } from './local-records/local-records-file.js';
import { LocalRecords } from './local-records/local-records.js';
import { LatencyHistogram } from './metrics/latency-histogram.js';
import { ProfileCounters, ProfileRows } from './metrics/profile-counters.js';
import { QueryCounters } from './metrics/query-counters.js';
import { CountsOfAll, createThreadCounts } from './metrics/thread-counts.js';
import { QueryLog } from './query-log/query-log.js';
import { createQueryPath } from './query-path/create-query-path.js';
import type { PolicyReaders } from './shared-policy/policy-readers.js';
import { ReadPolicy } from './shared-policy/read-policy.js';
import { PathInTurns, SubscriberKeyInTurns } from './shared-policy/turns.js';
import type { Forwarder } from './upstream/forwarder.js';

export interface DnsServiceOptions {
  readonly configuration: DnsConfiguration;
  readonly upstreams: readonly UpstreamEndpoint[];
  /** A `ReadPolicy` is read in turns. Nobody changes another one while this thread handles a query. */
  readonly source: PolicySource<QueryPolicy>;
  /** Through which lanes read the same policy. Without it there are no lanes. */
  readonly readers?: PolicyReaders;
  /** The answer to health checks by DNS. Default: always ready. */
  readonly isReady?: () => boolean;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Interval between checks of the file of local records, in milliseconds. */
  readonly fileCheckMs?: number;
  /** Destination of the query log. Default: standard output. */
  readonly queryLogOutput?: LineOutput;
  /** Interval between checks whether lanes hang, in milliseconds. */
  readonly laneCheckMs?: number;
  /** Times in place of the real ones. */
  readonly times?: SetTimes;
  readonly forwarding?: ForwardingLimits;
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

/** Wires everything that answers queries. */
export class DnsService {
  readonly allowedClients: AllowedClients;
  /** Null: there is no file of local records. */
  readonly localRecords: WatchedFile<LocalRecords> | null;
  readonly cache: AnswerCache;
  readonly queryLog: QueryLog | null;
  readonly dnstapSender: FrameSender | null;
  readonly forwarder: Forwarder;
  readonly failingZones: FailingZones;
  /** Null: this thread answers all queries. */
  lanes: Lanes | null = null;
  /** What all threads have counted until now. */
  readonly counts: CountsOfAll;
  private readonly listeners: Listeners;
  private readonly createLanes: () => Lanes | null;

  constructor(options: DnsServiceOptions) {
    const { configuration, upstreams, source, log, forwarding } = options;
    const { isReady = () => true } = options;
    const real = { wallMs: Date.now, monotonicMs: elapsedMs };
    const { wallMs, monotonicMs } = withTimes(real, options.times);
    const nowSeconds = (): number => Math.floor(monotonicMs() / 1000);
    const hashKey = parseHashKey(configuration.DOMAIN_HASH_KEY);
    const { readers } = options;
    const calls = readers === undefined ? null : loadSystemCalls();
    const lanes = calls === null ? 0 : laneCount(configuration.RESOLVER_THREADS);
    const { CACHE_MAX_TTL: maxTtlSeconds, METRICS_PROFILES: profiles } = configuration;
    this.cache = new AnswerCache({
      sizeBytes: configuration.CACHE_SIZE_MB * MEBIBYTE,
      minTtlSeconds: configuration.CACHE_MIN_TTL,
      ...(maxTtlSeconds !== undefined && { maxTtlSeconds }),
      targetHasher: configuration.INSPECT_CNAME ? new TargetHasher(hashKey) : null,
      readers: lanes,
    });
    const profileRows = profiles === 0 ? null : new ProfileRows(profiles);
    const ownCounts = createThreadCounts(profiles);
    const counters = new QueryCounters(ownCounts.queries);
    this.counts = new CountsOfAll(
      () => [ownCounts, ...(this.lanes?.all ?? []).map((lane) => lane.counts)],
      profileRows,
    );
    this.queryLog = openQueryLog(configuration, options.queryLogOutput);
    const { DNSTAP_ENDPOINT: receiver } = configuration;
    this.dnstapSender = receiver === undefined ? null : new FrameSender({ receiver, log });
    const onDefect = throttled((error: unknown) => {
      log.error({ err: error }, 'a query could not be handled');
    });
    const subscriberSalt = randomInt(2 ** 32);
    const readPolicy = source instanceof ReadPolicy ? source : null;
    const subscriber =
      readPolicy === null
        ? new SubscriberKey(source, subscriberSalt)
        : new SubscriberKeyInTurns(readPolicy, subscriberSalt);
    const limits = new ClientLimits({
      queriesPerSecond: configuration.CLIENT_QUERY_RATE,
      errorsPerSecond: configuration.CLIENT_ERROR_RATE,
      handshakesPerSecond: configuration.CLIENT_TLS_HANDSHAKE_RATE,
      bytesPerSecond: configuration.CLIENT_UDP_BYTE_RATE,
      subscriber,
      nowSeconds,
      counts: ownCounts.limits,
    });
    this.allowedClients = new AllowedClients({
      networks: configuration.DNS_ALLOWED_CLIENTS,
      file: configuration.DNS_ALLOWED_CLIENTS_FILE,
      log,
      onChange: (allowedClients) => this.lanes?.update({ allowedClients }),
    });
    const { LOCAL_RECORDS: localRecordsFile } = configuration;
    this.localRecords =
      localRecordsFile === undefined
        ? null
        : openLocalRecords(localRecordsFile, hashKey, {
            log,
            onChange: (_, localRecords) => this.lanes?.update({ localRecords }),
            ...(options.fileCheckMs !== undefined && { checkMs: options.fileCheckMs }),
          });
    const secrets = cookieSecrets(configuration);
    const ownPath = createQueryPath(configuration, {
      source,
      hashKey,
      wallClockMs: wallMs,
      allowedClients: this.allowedClients,
      localRecords: this.localRecords ?? { value: LocalRecords.none },
      isReady,
      cache: this.cache,
      keep: this.cache.put.bind(this.cache),
      upstream: () => this.forwarder,
      nowSeconds,
      limits,
      cookies: new ServerCookies(secrets, wallMs),
      counters,
      profileCounters: profileRows && new ProfileCounters(profileRows, ownCounts.profiles),
      latencies: new LatencyHistogram(ownCounts.latencies),
      queryLog: this.queryLog,
      dnstap: this.dnstapSender && createDnstap(configuration, this.dnstapSender, monotonicMs),
      nowMs: monotonicMs,
      onDefect,
    });
    const path = readPolicy === null ? ownPath : new PathInTurns(ownPath, readPolicy);
    this.failingZones = new FailingZones({
      key: hashKey,
      showNames: configuration.QUERY_LOG_NAMES,
      nowSeconds,
    });
    this.forwarder = createForwarder(configuration, {
      ...{ upstreams, forwarding, subscriber, log },
      events: path,
      nowMs: monotonicMs,
      failingZones: this.failingZones,
    });
    this.listeners = new Listeners({
      configuration,
      handler: path,
      counters,
      subscriber,
      limits,
      lanes: calls === null || lanes === 0 ? null : { calls, count: lanes },
      nowMs: monotonicMs,
      log,
      onError: throttled((error: Error) => {
        log.error({ reason: error.message }, 'error of a listening socket');
      }),
    });
    this.createLanes = () => {
      if (readers === undefined || calls === null || lanes === 0) return null;
      return new Lanes({
        calls,
        readers,
        cache: this.cache,
        sockets: this.listeners.laneSockets,
        task: {
          configuration: laneConfiguration(configuration),
          hashKey,
          cookieSecrets: secrets,
          subscriberSalt,
          limits: limits.memory,
          profileRows: profileRows && {
            capacity: profileRows.capacity,
            memory: profileRows.memory,
          },
          handsOverAll: this.queryLog !== null || this.dnstapSender !== null,
          clock: { hrtimeNs: process.hrtime.bigint(), monotonicMs: elapsedMs() },
          times: options.times,
          loadBalancers: configuration.DNS_PROXY_PROTOCOL_FROM ?? CidrSet.parse([]),
          wake: new Int32Array(new SharedArrayBuffer(4)),
        },
        files: () => ({
          allowedClients: this.allowedClients.networks,
          ...(this.localRecords && { localRecords: this.localRecords.text }),
        }),
        isReady,
        handler: path,
        counters,
        onDefect,
        log,
        ...(options.laneCheckMs !== undefined && { checkMs: options.laneCheckMs }),
      });
    };
  }

  /** Opens upstream sockets, then listens. @throws StartError when a port is taken */
  async start(): Promise<BoundAddresses> {
    await this.forwarder.open();
    try {
      const addresses = await this.listeners.start();
      await this.startLanes();
      this.dnstapSender?.open();
      return addresses;
    } catch (error) {
      this.forwarder.close();
      throw error;
    }
  }

  private async startLanes(): Promise<void> {
    this.lanes = this.createLanes();
    try {
      await this.lanes?.start();
    } catch (error) {
      await this.lanes?.stop();
      await this.listeners.stop();
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

  /** Checks at which the files of the TLS certificate were not usable. */
  get tlsFaults(): number {
    return this.listeners.tlsFaults;
  }

  /** Accepts no more queries, answers those in flight, then closes. */
  async stop(): Promise<void> {
    this.listeners.drain();
    await this.lanes?.drain();
    const deadlineMs = elapsedMs() + DRAIN_MS;
    while (this.forwarder.waiting > 0 && elapsedMs() < deadlineMs) await sleep(DRAIN_CHECK_MS);
    this.forwarder.close();
    await this.lanes?.stop();
    await this.listeners.stop();
    this.allowedClients.close();
    this.localRecords?.close();
    this.queryLog?.flush();
    await this.dnstapSender?.close();
  }
}
