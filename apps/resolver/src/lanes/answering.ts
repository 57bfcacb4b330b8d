import type { HashKey } from '@weir/dns-name';
import type { Logger } from '@weir/ops';
import { CidrSet } from '@weir/ops/cidr-set';
import { LocalRecords, TargetHasher } from '@weir/policy/answers';
import type { SocketPoller, SystemCalls } from '@weir/udp-batch';
import { inspect } from 'node:util';
import { parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { AnswerCache } from '../cache/answer-cache.js';
import { BatchClocks, type BatchTurn, withTimes } from '../clocks.js';
import { createForwarder } from '../create-forwarder.js';
import { Dnstap } from '../dnstap/dnstap.js';
import { createSender } from '../dnstap/frame-sender.js';
import { RateLimits } from '../limits/rate-limits.js';
import { ServerCookies } from '../limits/server-cookies.js';
import type { TlsPair } from '../listeners/tls-acceptor.js';
import { LogCounts } from '../metrics/log-counts.js';
import { ProfileRows } from '../metrics/profile-counters.js';
import type { QueryCounters } from '../metrics/query-counters.js';
import { countersInto } from '../metrics/thread-counts.js';
import type { QueryLog, WriteLines } from '../query-log/query-log.js';
import { createQueryPath } from '../query-path/create-query-path.js';
import type { QueryPath } from '../query-path/query-path.js';
import { ReadPolicy, SubscriberKeyInTurns } from '../shared-policy/read-policy.js';
import { throttled } from '../throttled.js';
import type { Forwarder } from '../upstream/forwarder.js';
import {
  type LaneFiles as Files,
  type LaneLog,
  type LaneReport,
  type LaneTask,
  LaneWord,
} from './lane-task.js';
import { postLines } from './posted-lines.js';

/** What an operator may replace by changing a file: the main thread reads it, and the lanes get it. */
class LaneFiles {
  readonly allowedClients: { has: CidrSet['has'] };
  readonly localRecords = { value: LocalRecords.none };
  private allowed = CidrSet.of([], []);
  private received = 0;

  constructor(
    private readonly task: LaneTask,
    private readonly hashKey: HashKey,
    private readonly onTls: (pair: TlsPair) => void,
  ) {
    this.allowedClients = { has: (client) => this.allowed.has(client) };
    this.take(task);
  }

  /** Takes what has come. */
  update(): void {
    while (this.received !== Atomics.load(this.task.words, LaneWord.sent)) {
      const message = receiveMessageOnPort(this.task.port);
      if (message === undefined) return;
      this.received++;
      this.take(message.message as Files);
    }
  }

  private take({ allowedClients, localRecords, tls }: Files): void {
    if (tls !== undefined) this.onTls(tls);
    if (allowedClients !== undefined) this.allowed = CidrSet.revive(allowedClients);
    if (localRecords !== undefined) {
      this.localRecords.value = LocalRecords.of(localRecords, this.hashKey);
    }
  }
}

/** Tells the part of the main thread that watches the lane. */
export type Report = (message: LaneReport) => void;

/** Of a lane that is a thread. */
export const postReport: Report = (message) => {
  try {
    parentPort?.postMessage(message);
  } catch {
    // Something in the details of a line cannot be cloned.
    if (message.type !== 'log') return;
    parentPort?.postMessage({ ...message, details: { reason: inspect(message.details) } });
  }
};

type LaneLogger = Pick<Logger, 'info' | 'warn' | 'error'>;

/** The log of the resolver. */
function logOf(report: Report): LaneLogger {
  const levels = ['info', 'warn', 'error'] as const;
  const write =
    (level: LaneLog['level']) =>
    (details: object | string, text = ''): void => {
      if (typeof details === 'string') report({ type: 'log', level, details: {}, text: details });
      else report({ type: 'log', level, details, text });
    };
  return Object.fromEntries(levels.map((level) => [level, write(level)])) as LaneLogger;
}

const silent: LaneLogger = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** Everything in a lane that answers queries, behind its sockets. */
export interface Answering {
  readonly path: QueryPath;
  readonly forwarder: Forwarder;
  readonly limits: RateLimits;
  readonly subscriber: SubscriberKeyInTurns;
  readonly allowedClients: Pick<CidrSet, 'has'>;
  readonly loadBalancers: CidrSet;
  readonly counters: QueryCounters;
  readonly turn: BatchTurn;
  /** To be called now and then outside of turns. It never waits for a change. */
  readonly takeChanges: () => void;
  /** The clock of the main thread, in milliseconds. */
  readonly nowMs: () => number;
  /** The same; it stands still during a turn. */
  readonly turnMs: () => number;
  readonly log: LaneLogger;
  /** After the last query. */
  readonly close: () => Promise<void>;
}

/** Loads the query log only where it is on: its modules take 3 MB of a thread. */
async function openLog(
  { configuration }: LaneTask,
  write: WriteLines,
  counts: LogCounts,
): Promise<QueryLog | null> {
  if (configuration.QUERY_LOG_SAMPLING === 0) return null;
  const { openQueryLog } = await import('../query-log/query-log.js');
  return openQueryLog(configuration, write, counts);
}

interface AnsweringDependencies {
  readonly calls: SystemCalls;
  readonly report: Report;
  /** Watches the sockets of upstreams. Default: the event loop does. */
  readonly poller?: SocketPoller;
  /** There is a certificate, or a new one. Default: it is not needed. */
  readonly onTls?: (pair: TlsPair) => void;
}

/** Waits for the policy, and opens the sockets to upstreams. */
export async function openAnswering(
  task: LaneTask,
  { calls, report, poller, onTls = () => undefined }: AnsweringDependencies,
): Promise<Answering> {
  const { configuration, hashKey, words, counts, profileRows } = task;
  const log = logOf(report);
  // Another thread has died, or loops, in the middle of a write. This one waits for it, so no event tells of that. A
  // thread ends with the call, and the resolver with the thread.
  const endStuck = (what: string): never => {
    log.error({}, what);
    process.exit(1);
  };
  const policy = await ReadPolicy.connect(task.policyPort, hashKey, () =>
    endStuck('the thread of the feed is stuck in a change; the resolver ends'),
  );
  const offsetMs =
    task.clock.monotonicMs +
    Number(process.hrtime.bigint() - task.clock.hrtimeNs) / 1e6 -
    performance.now();
  const real = { wallMs: Date.now, monotonicMs: () => performance.now() + offsetMs };
  const times = withTimes(real, task.times);
  const { monotonicMs: nowMs } = times;
  const clocks = new BatchClocks(times);
  const nowSeconds = (): number => Math.floor(clocks.monotonicMs() / 1000);
  const cache = new AnswerCache({
    memory: task.cache,
    thread: 1 + task.number,
    minTtlSeconds: configuration.CACHE_MIN_TTL,
    maxTtlSeconds: configuration.CACHE_MAX_TTL,
    targetHasher: configuration.INSPECT_CNAME ? new TargetHasher(hashKey) : null,
    onStuck: () => endStuck('a lane is stuck in a write to the cache; the resolver ends'),
  });
  const files = new LaneFiles(task, hashKey, onTls);
  const rows = profileRows && new ProfileRows(profileRows.capacity, profileRows.memory);
  const counting = countersInto(counts, rows);
  const subscriber = new SubscriberKeyInTurns(policy, task.subscriberSalt);
  const turn: BatchTurn = {
    enter: () => {
      files.update();
      policy.enter();
      clocks.enter();
    },
    leave: () => {
      clocks.leave();
      policy.leave();
    },
  };
  const commonLog = task.isReporter ? log : silent;
  const logCounts = new LogCounts(counts.logs);
  const write = postLines(words, (lines, count) => {
    report({ type: 'lines', lines, count });
  });
  const queryLog = await openLog(task, write, logCounts);
  const dnstapSender = createSender(configuration, commonLog, logCounts);
  const limits = new RateLimits({
    queriesPerSecond: configuration.CLIENT_QUERY_RATE,
    errorsPerSecond: configuration.CLIENT_ERROR_RATE,
    handshakesPerSecond: configuration.CLIENT_TLS_HANDSHAKE_RATE,
    bytesPerSecond: configuration.CLIENT_UDP_BYTE_RATE,
    subscriber,
    nowSeconds,
    memory: task.limits,
    counts: counts.limits,
  });
  const path = createQueryPath(configuration, {
    source: policy,
    hashKey,
    wallClockMs: clocks.wallMs,
    allowedClients: files.allowedClients,
    localRecords: files.localRecords,
    isReady: () => Atomics.load(words, LaneWord.ready) === 1,
    cache,
    upstream: () => forwarder,
    limits,
    cookies: new ServerCookies(task.cookieSecrets, subscriber, clocks.wallMs),
    ...counting,
    queryLog,
    dnstap: dnstapSender && new Dnstap(configuration, dnstapSender, nowMs),
    nowMs,
    nowSeconds,
    onDefect: throttled((error: unknown) => {
      log.error({ err: error }, 'a query could not be handled');
    }, nowMs),
  });
  const forwarder = createForwarder(configuration, {
    ...{ calls, upstreams: task.upstreams, forwarding: task.forwarding, subscriber, turn },
    threads: task.threads,
    capacityDivisor: task.capacityDivisor,
    counts: counts.forwarding,
    generation: () => cache.generation,
    events: path,
    nowMs: clocks.monotonicMs,
    ...(poller && { poller }),
    onRecovered: () => cache.retryFailures(nowSeconds()),
    log: commonLog,
  });
  forwarder.open();
  dnstapSender?.open();
  return {
    ...{ path, forwarder, limits, subscriber, turn, nowMs, log },
    takeChanges: () => {
      files.update();
      policy.takeChanges();
    },
    allowedClients: files.allowedClients,
    loadBalancers: CidrSet.revive(task.loadBalancers),
    counters: counting.counters,
    turnMs: clocks.monotonicMs,
    close: async () => {
      forwarder.close();
      queryLog?.flush();
      await dnstapSender?.close();
    },
  };
}

/** It runs; when it ends it calls `endLane`. */
export function startLane({ words }: LaneTask, calls: SystemCalls, report: Report): void {
  Atomics.store(words, LaneWord.threadId, calls.gettid());
  report({ type: 'running' });
}

/** Nothing of it keeps the thread running any more. */
export function endLane({ port, policyPort }: LaneTask): void {
  port.close();
  policyPort.close();
}
