import { parseHashKey, type HashKey } from '@weir/dns-name';
import {
  type AddressWords,
  type LineOutput,
  type Logger,
  parseCidrs,
  standardOutput,
  stopAndThrow,
  stopInTurn,
  type UpstreamEndpoint,
} from '@weir/ops';
import { loadSystemCalls } from '@weir/udp-batch';
import { randomInt, randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { AnswerCache } from './cache/answer-cache.js';
import { createCacheMemory } from './cache/cache-memory.js';
import { BatchClocks, type BatchTurn, type SetTimes, withTimes } from './clocks.js';
import type { DnsConfiguration } from './configuration.js';
import { MAX_THREADS } from './configuration/listener-variables.js';
import { createForwarder, type ForwardingLimits } from './create-forwarder.js';
import { Dnstap } from './dnstap/dnstap.js';
import { createSender, type FrameSender } from './dnstap/frame-sender.js';
import { Lanes } from './lanes/lanes.js';
import { OperatorFiles } from './operator-files.js';
import { ClientLimits } from './limits/client-limits.js';
import { ServerCookies } from './limits/server-cookies.js';
import { type BoundAddresses, Listeners } from './listeners/listeners.js';
import { TargetHasher } from '@weir/policy/answers';
import { LogCount, LogCounts } from './metrics/log-counts.js';
import { ProfileRows } from './metrics/profile-counters.js';
import { CountsOfAll, countersInto, createThreadCounts } from './metrics/thread-counts.js';
import { openQueryLog, type QueryLog } from './query-log/query-log.js';
import { createQueryPath } from './query-path/create-query-path.js';
import {
  type PolicyReaders,
  type ReadPolicy,
  SubscriberKeyInTurns,
} from './shared-policy/read-policy.js';
import { throttled } from './throttled.js';
import type { Forwarder } from './upstream/forwarder.js';

const MEBIBYTE = 2 ** 20;
/** Maximum of the query log that waits to be written. It leaves the log of the process its part of standard output. */
const QUERY_LOG_BYTES = MEBIBYTE / 2;

/** The keys of `ServerCookies`. Without any given, a random one: cookies then hold until the process ends. */
function cookieSecrets(given: readonly string[] | undefined): HashKey[] {
  const secrets = given ?? [randomBytes(16).toString('hex')];
  return secrets.map(parseHashKey);
}

/** How many lanes there are. By default one for each core but one, which is for the main thread. */
export function laneCount({ RESOLVER_THREADS: wanted }: DnsConfiguration): number {
  return wanted ?? Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1));
}

export interface DnsServiceOptions {
  readonly configuration: DnsConfiguration;
  readonly upstreams: readonly UpstreamEndpoint[];
  readonly source: ReadPolicy;
  /** Through which lanes read the same policy. */
  readonly readers: PolicyReaders;
  /** The answer to health checks by DNS. Default: always ready. */
  readonly isReady?: () => boolean;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Interval between checks of the file of local records, in milliseconds. */
  readonly fileCheckMs?: number;
  /** Destination of the query log. Default: standard output. */
  readonly queryLogOutput?: LineOutput;
  /** Interval between checks whether lanes hang, in milliseconds. */
  readonly laneCheckMs?: number;
  /** Whether lanes that the load does not need get no queries. Default: yes. */
  readonly parksLanes?: boolean;
  /** Times in place of the real ones. */
  readonly times?: SetTimes;
  readonly forwarding?: ForwardingLimits;
}

/** Longer than the query timeout of the forwarder. */
const DRAIN_MS = 4_000;
const DRAIN_CHECK_MS = 10;

const elapsedMs = (): number => performance.now();

/** Wires everything that answers queries. */
export class DnsService {
  readonly files: OperatorFiles;
  readonly cache: AnswerCache;
  readonly queryLog: QueryLog | null;
  readonly dnstapSender: FrameSender | null;
  readonly forwarder: Forwarder;
  readonly listeners: Listeners;
  /** What all threads have counted until now. */
  readonly counts: CountsOfAll;
  private readonly createLanes: () => Lanes;
  private runningLanes: Lanes | null = null;
  private readonly log: DnsServiceOptions['log'];

  constructor(options: DnsServiceOptions) {
    const { configuration, source, log, times, isReady = () => true } = options;
    this.log = log;
    const hashKey = parseHashKey(configuration.DOMAIN_HASH_KEY);
    const clocks = new BatchClocks(withTimes({ wallMs: Date.now, monotonicMs: elapsedMs }, times));
    const { wallMs, monotonicMs: nowMs } = clocks;
    const turn: BatchTurn = {
      enter: () => {
        source.enter();
        clocks.enter();
      },
      leave: () => {
        clocks.leave();
        source.leave();
      },
    };
    const nowSeconds = (): number => Math.floor(nowMs() / 1000);
    const onDefect = throttled((error: unknown) =>
      log.error({ err: error }, 'a query could not be handled'),
    );

    // What lanes share with this thread.
    const lanes = laneCount(configuration);
    const calls = loadSystemCalls();
    const { METRICS_PROFILES: profiles } = configuration;
    const profileRows = profiles === 0 ? null : new ProfileRows(profiles);
    const ownCounts = createThreadCounts(profiles, options.upstreams.length);
    const counting = countersInto(ownCounts, profileRows);
    const { counters } = counting;
    this.counts = new CountsOfAll(
      () => [ownCounts, ...(this.runningLanes?.all ?? []).map((lane) => lane.counts)],
      profileRows,
    );
    const secrets = cookieSecrets(configuration.DNS_COOKIE_SECRETS);
    const subscriberSalt = randomInt(2 ** 32);
    const subscriber = new SubscriberKeyInTurns(source, subscriberSalt);
    const limits = new ClientLimits({
      queriesPerSecond: configuration.CLIENT_QUERY_RATE,
      errorsPerSecond: configuration.CLIENT_ERROR_RATE,
      handshakesPerSecond: configuration.CLIENT_TLS_HANDSHAKE_RATE,
      bytesPerSecond: configuration.CLIENT_UDP_BYTE_RATE,
      subscriber,
      nowSeconds,
      counts: ownCounts.limits,
    });
    // This thread and the lanes.
    const memory = createCacheMemory(configuration.CACHE_SIZE_MB * MEBIBYTE, 1 + lanes);
    this.cache = new AnswerCache({
      ...{ memory, thread: 0 },
      minTtlSeconds: configuration.CACHE_MIN_TTL,
      maxTtlSeconds: configuration.CACHE_MAX_TTL,
      targetHasher: configuration.INSPECT_CNAME ? new TargetHasher(hashKey) : null,
      // This thread waits for it, so no event tells of that.
      onStuck: () => {
        log.error({}, 'a thread for UDP is stuck in a write to the cache, and the resolver ends');
        process.exit(1);
      },
    });
    this.files = new OperatorFiles({
      ...{ configuration, hashKey, log },
      checkMs: options.fileCheckMs,
      onChange: (files) => this.runningLanes?.update(files),
    });
    const allowedClients = {
      has: (client: AddressWords) => this.files.allowedClients.value.has(client),
    };

    // The path of the queries of this thread, and what it writes to.
    const logCounts = new LogCounts(ownCounts.logs);
    const write = (lines: string, count: number): boolean => {
      const { queryLogOutput: output = standardOutput() } = options;
      const isWritten = output.write(lines, QUERY_LOG_BYTES);
      if (isWritten) logCounts.count(LogCount.writtenLines, count);
      return isWritten;
    };
    this.queryLog = openQueryLog(configuration, write, logCounts);
    this.dnstapSender = createSender(configuration, log, logCounts);
    const handler = createQueryPath(configuration, {
      ...{ source, hashKey, isReady, nowMs, nowSeconds, limits, onDefect },
      ...counting,
      wallClockMs: wallMs,
      allowedClients,
      localRecords: this.files.localRecords,
      cache: this.cache,
      upstream: () => this.forwarder,
      cookies: new ServerCookies(secrets, subscriber, wallMs),
      queryLog: this.queryLog,
      dnstap: this.dnstapSender && new Dnstap(configuration, this.dnstapSender, nowMs),
    });

    // Behind the path: upstreams. In front of it: sockets, here and in lanes.
    this.forwarder = createForwarder(configuration, {
      ...{ calls, upstreams: options.upstreams, forwarding: options.forwarding },
      ...{ subscriber, turn, nowMs, log },
      threads: 1 + lanes,
      events: handler,
      counts: ownCounts.forwarding,
      generation: () => this.cache.generation,
      onRecovered: () => this.cache.retryFailures(nowSeconds()),
    });
    this.listeners = new Listeners({
      ...{ configuration, calls, handler, counters, subscriber, limits, nowMs, log },
      allowedClients,
      laneCount: lanes,
      onError: throttled((error: Error) =>
        log.error({ reason: error.message }, 'a listening socket has failed; it goes on'),
      ),
    });
    this.createLanes = () =>
      new Lanes({
        ...{ calls, readers: options.readers, isReady, onDefect, log },
        onLines: (lines, count) => this.queryLog?.writeLines(lines, count),
        sockets: this.listeners.laneSockets,
        files: () => this.files.forLanes,
        checkMs: options.laneCheckMs,
        parks: options.parksLanes,
        task: {
          ...{ configuration, hashKey, subscriberSalt, times },
          ...{ upstreams: options.upstreams, forwarding: options.forwarding },
          cookieSecrets: secrets,
          cache: memory,
          limits: limits.memory,
          profileRows: profileRows && {
            capacity: profileRows.capacity,
            memory: profileRows.memory,
          },
          clock: { hrtimeNs: process.hrtime.bigint(), monotonicMs: elapsedMs() },
          loadBalancers: configuration.DNS_PROXY_PROTOCOL_FROM ?? parseCidrs([]),
        },
      });
  }

  /** Opens upstream sockets, then listens. @throws StartError when a port is taken */
  async start(): Promise<BoundAddresses> {
    this.forwarder.open();
    try {
      const addresses = await this.listeners.start();
      this.runningLanes = this.createLanes();
      await this.lanes.start();
      this.dnstapSender?.open();
      return addresses;
    } catch (error) {
      const parts = [
        () => this.runningLanes?.stop(),
        () => this.listeners.stop(),
        () => this.forwarder.close(),
      ];
      return stopAndThrow(error, parts, this.log);
    }
  }

  /** From `start` on. */
  get lanes(): Lanes {
    if (this.runningLanes === null) throw new Error('the service has not been started');
    return this.runningLanes;
  }

  /** Accepts no more queries, answers those in flight, then closes. */
  async stop(): Promise<void> {
    await stopInTurn([
      () => this.listeners.drain(),
      () => this.lanes.drain(),
      () => this.answerWaiting(),
      () => this.forwarder.close(),
      () => this.lanes.stop(),
      () => this.listeners.stop(),
      () => this.files.close(),
      () => this.queryLog?.flush(),
      () => this.dnstapSender?.close(),
    ]);
  }

  private async answerWaiting(): Promise<void> {
    const deadlineMs = elapsedMs() + DRAIN_MS;
    while (this.counts.forwarding.waiting > 0 && elapsedMs() < deadlineMs)
      await sleep(DRAIN_CHECK_MS);
  }
}
