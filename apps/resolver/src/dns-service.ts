import { ConnectionCounts } from '@weir/clients';
import { parseHashKey, type HashKey } from '@weir/dns-name';
import {
  type LineOutput,
  type Logger,
  parseCidrs,
  standardOutput,
  stopAndThrow,
  stopInOrder,
  TlsIdentity,
  type UpstreamEndpoint,
} from '@weir/ops';
import { loadSystemCalls } from '@weir/udp-batch';
import { randomInt, randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { AnswerCache } from './cache/answer-cache.js';
import { createCacheMemory } from './cache/cache-memory.js';
import type { SetTimes } from './clocks.js';
import type { DnsConfiguration } from './configuration.js';
import { MAX_THREADS } from './configuration/listener-variables.js';
import { checkUpstreams, type ForwardingLimits } from './create-forwarder.js';
import type { LaneFiles } from './lanes/lane-task.js';
import { Lanes } from './lanes/lanes.js';
import { OperatorFiles } from './operator-files.js';
import { createLimitsMemory } from './limits/rate-limits.js';
import { type BoundAddresses, ListeningSockets } from './listeners/listening-sockets.js';
import { LogCount, LogCounts } from './metrics/log-counts.js';
import { ProfileRows } from './metrics/profile-counters.js';
import { CountsOfAll, countersInto, createThreadCounts } from './metrics/thread-counts.js';
import type { PolicyReaders } from './shared-policy/policy-readers.js';

const MEBIBYTE = 2 ** 20;
/** Maximum of the query log that waits to be written. It leaves the log of the process its part of standard output. */
const QUERY_LOG_BYTES = MEBIBYTE / 2;

/** The keys of `ServerCookies`. Without any given, a random one: cookies then hold until the process ends. */
function cookieSecrets(given: readonly string[] | undefined): HashKey[] {
  const secrets = given ?? [randomBytes(16).toString('hex')];
  return secrets.map(parseHashKey);
}

/**
 * How many lanes there are. By default one for each core but one, and as many for streams where they are encrypted: a
 * handshake takes as long as 60 answers. TCP alone needs one.
 */
export function countLanes(
  configuration: DnsConfiguration,
): Record<'udp' | 'streams' | 'all', number> {
  const { RESOLVER_THREADS: wanted, DNS_TLS_PORT, DNS_HTTPS_PORT } = configuration;
  const udp = wanted ?? Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1));
  const streams = DNS_TLS_PORT === undefined && DNS_HTTPS_PORT === undefined ? 1 : udp;
  return { udp, streams, all: udp + streams };
}

export interface DnsServiceOptions {
  readonly configuration: DnsConfiguration;
  readonly upstreams: readonly UpstreamEndpoint[];
  /** Through which lanes read the policy. */
  readonly readers: PolicyReaders;
  /** The answer to health checks by DNS. Default: always ready. */
  readonly isReady?: () => boolean;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Interval between checks of files that an operator may change, in milliseconds. */
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
const TICKET_SECRET_BYTES = 32;

const elapsedMs = (): number => performance.now();

/** @throws StartError, as a `DnsService`, when a file or an upstream is not usable */
export function checkDnsFiles(
  options: Pick<DnsServiceOptions, 'configuration' | 'upstreams' | 'log'>,
): void {
  const { configuration, upstreams, log } = options;
  checkUpstreams(configuration, upstreams);
  openIdentity(options);
  const hashKey = parseHashKey(configuration.DOMAIN_HASH_KEY);
  new OperatorFiles({ configuration, hashKey, log, checkMs: undefined, onChange: () => undefined });
}

/** Everything that answers queries: lanes do, and this wires what they share. */
export class DnsService {
  readonly configuration: DnsConfiguration;
  readonly upstreams: readonly UpstreamEndpoint[];
  readonly files: OperatorFiles;
  readonly cache: AnswerCache;
  readonly sockets: ListeningSockets;
  /** The certificate for DNS over TLS and HTTPS, as lanes use it; null: neither is offered. */
  readonly identity: TlsIdentity | null;
  /** What all threads have counted until now. */
  readonly counts: CountsOfAll;
  private readonly createLanes: () => Lanes;
  private runningLanes: Lanes | null = null;
  private readonly log: DnsServiceOptions['log'];

  /** @throws StartError when a file or an upstream is not usable */
  constructor(options: DnsServiceOptions) {
    const { configuration, upstreams, log, times, isReady = () => true } = options;
    this.configuration = configuration;
    this.upstreams = upstreams;
    this.log = log;
    checkUpstreams(configuration, upstreams);
    this.identity = openIdentity(options);
    this.identity?.attach({ setSecureContext: () => this.runningLanes?.update(this.tls) });
    const hashKey = parseHashKey(configuration.DOMAIN_HASH_KEY);
    const lanes = countLanes(configuration);
    const calls = loadSystemCalls();
    const { METRICS_PROFILES: profiles } = configuration;
    const profileRows = profiles === 0 ? null : new ProfileRows(profiles);
    // Of this thread.
    const counts = createThreadCounts(profiles, upstreams.length);
    this.counts = new CountsOfAll(
      () => [...(this.runningLanes?.all ?? []).map((lane) => lane.counts), counts],
      profileRows,
    );
    // This thread flushes it.
    const memory = createCacheMemory(configuration.CACHE_SIZE_MB * MEBIBYTE, 1 + lanes.all);
    this.cache = new AnswerCache({ memory, thread: 0 });
    this.files = new OperatorFiles({
      ...{ configuration, hashKey, log },
      checkMs: options.fileCheckMs,
      onChange: (files) => this.runningLanes?.update(files),
    });
    const logCounts = new LogCounts(counts.logs);
    const { queryLogOutput = standardOutput() } = options;
    const writeLines = (lines: string, count: number): void => {
      const isWritten = queryLogOutput.write(lines, QUERY_LOG_BYTES);
      logCounts.count(isWritten ? LogCount.writtenLines : LogCount.lostLines, count);
    };
    this.sockets = new ListeningSockets({
      ...{ configuration, calls, log },
      counters: countersInto(counts, null).counters,
      lanes: lanes.udp,
      streamLanes: lanes.streams,
    });
    const ofStreams = {
      lanes: lanes.streams,
      connections: new ConnectionCounts().memory,
      ticketSecret: randomBytes(TICKET_SECRET_BYTES),
    };
    this.createLanes = () =>
      new Lanes({
        ...{ calls, readers: options.readers, isReady, log },
        onLines: writeLines,
        sockets: this.sockets.ofLanes,
        streams: this.sockets.ofStreamLanes.map((sockets) => ({ ...ofStreams, sockets })),
        files: () => ({ ...this.files.forLanes, ...this.tls }),
        checkMs: options.laneCheckMs,
        parks: options.parksLanes,
        task: {
          ...{ configuration, hashKey, times, upstreams, forwarding: options.forwarding },
          subscriberSalt: randomInt(2 ** 32),
          cookieSecrets: cookieSecrets(configuration.DNS_COOKIE_SECRETS),
          cache: memory,
          limits: createLimitsMemory(),
          profileRows: profileRows && {
            capacity: profileRows.capacity,
            memory: profileRows.memory,
          },
          clock: { hrtimeNs: process.hrtime.bigint(), monotonicMs: elapsedMs() },
          loadBalancers: configuration.DNS_PROXY_PROTOCOL_FROM ?? parseCidrs([]),
        },
      });
  }

  /** Listens, then starts the lanes. @throws StartError when a port is taken */
  async start(): Promise<BoundAddresses> {
    const addresses = this.sockets.open();
    try {
      this.runningLanes = this.createLanes();
      await this.lanes.start();
      return addresses;
    } catch (error) {
      const stops = [() => this.runningLanes?.stop(), () => this.sockets.close()];
      return stopAndThrow(error, stops, this.log);
    }
  }

  /** From `start` on. */
  get lanes(): Lanes {
    if (this.runningLanes === null) throw new Error('the service has not been started');
    return this.runningLanes;
  }

  private get tls(): Pick<LaneFiles, 'tls'> {
    if (this.identity === null) return {};
    const { cert, key } = this.identity.serverOptions();
    return { tls: { cert, key } };
  }

  /** Accepts no more queries, answers those in flight, then closes. */
  async stop(): Promise<void> {
    await stopInOrder([
      () => this.lanes.drain(),
      () => this.answerWaiting(),
      () => this.lanes.stop(),
      () => this.sockets.close(),
      () => this.files.close(),
      () => this.identity?.close(),
    ]);
  }

  private async answerWaiting(): Promise<void> {
    const deadlineMs = elapsedMs() + DRAIN_MS;
    while (this.counts.forwarding.waiting > 0 && elapsedMs() < deadlineMs)
      await sleep(DRAIN_CHECK_MS);
  }
}

/** Null when neither TLS nor HTTPS is configured. */
function openIdentity({
  configuration,
  fileCheckMs: checkMs,
  log,
}: Pick<DnsServiceOptions, 'configuration' | 'fileCheckMs' | 'log'>): TlsIdentity | null {
  const { DNS_TLS_PORT: tlsPort, DNS_HTTPS_PORT: httpsPort } = configuration;
  if (tlsPort === undefined && httpsPort === undefined) return null;
  const { DNS_TLS_CERT: cert, DNS_TLS_KEY: key } = configuration;
  const names = { prefix: 'DNS_TLS', cert, key };
  return TlsIdentity.open({ names, log, ...(checkMs !== undefined && { checkMs }) });
}
