/*
 * A lane: a thread that answers UDP queries. It blocks in a system call between batches, and sees changes at the start
 * of each batch. Its event loop has a turn now and then, for timers and for TCP and TLS to upstreams.
 */
import type { HashKey } from '@weir/dns-name';
import { CidrSet } from '@weir/ops/cidr-set';
import { loadSystemCalls, PortSpread, SocketPoller, type SystemCalls } from '@weir/udp-batch';
import { parentPort, workerData, receiveMessageOnPort } from 'node:worker_threads';
import { AnswerCache } from '../cache/answer-cache.js';
import { BatchClocks, type BatchTurn, withTimes } from '../clocks.js';
import { createForwarder } from '../create-forwarder.js';
import { Dnstap } from '../dnstap/dnstap.js';
import { createSender } from '../dnstap/frame-sender.js';
import { ClientLimits } from '../limits/client-limits.js';
import { ServerCookies } from '../limits/server-cookies.js';
import { LocalRecords, TargetHasher } from '@weir/policy/answers';
import { ProfileRows } from '../metrics/profile-counters.js';
import { LogCounts } from '../metrics/log-counts.js';
import { countersInto } from '../metrics/thread-counts.js';
import type { QueryLog, WriteLines } from '../query-log/query-log.js';
import { createQueryPath } from '../query-path/create-query-path.js';
import { ReadPolicy, SubscriberKeyInTurns } from '../shared-policy/read-policy.js';
import { throttled } from '../throttled.js';
import { AwakeLanes } from './awake-lanes.js';
import { LaneCounts } from './lane-counts.js';
import { LaneLoop } from './lane-loop.js';
import { LaneSocket } from './lane-socket.js';
import { type LaneReport, type LaneTask, LaneWord, type LaneFiles as Files } from './lane-task.js';
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

  private take({ allowedClients, localRecords }: Files): void {
    if (allowedClients !== undefined) this.allowed = CidrSet.revive(allowedClients);
    if (localRecords !== undefined) {
      this.localRecords.value = LocalRecords.of(localRecords, this.hashKey);
    }
  }
}

const task = workerData as LaneTask;

const report = (message: LaneReport): void => parentPort?.postMessage(message);

/** The clock of the main thread, in milliseconds. */
const offsetMs =
  task.clock.monotonicMs +
  Number(process.hrtime.bigint() - task.clock.hrtimeNs) / 1e6 -
  performance.now();
const real = { wallMs: Date.now, monotonicMs: () => performance.now() + offsetMs };
const times = withTimes(real, task.times);
const { monotonicMs: nowMs } = times;
const clocks = new BatchClocks(times);
const nowSeconds = (): number => Math.floor(clocks.monotonicMs() / 1000);

/** For parts that the main thread has too: they report there. */
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

const onDefect = throttled((error: unknown) => {
  report({ type: 'defect', error });
}, nowMs);

const onRefused = throttled((error: unknown) => {
  report({ type: 'refused', error });
}, nowMs);

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** What the first lane does after each turn. */
function parkingBy(calls: SystemCalls, fds: readonly number[]): AwakeLanes['onTurn'] {
  const spread = new PortSpread(calls, fds);
  const awake = new AwakeLanes(spread, task.awake, task.lanes, threadCpuMs, onRefused);
  return awake.onTurn.bind(awake);
}

interface Parts {
  readonly loop: LaneLoop;
  /** After the last turn. */
  readonly close: () => Promise<void>;
}

/** Loads the query log only where it is on: its modules take 3 MB of a thread. */
async function openLog(write: WriteLines, counts: LogCounts): Promise<QueryLog | null> {
  if (task.configuration.QUERY_LOG_SAMPLING === 0) return null;
  const { openQueryLog } = await import('../query-log/query-log.js');
  return openQueryLog(task.configuration, write, counts);
}

async function createLane(calls: SystemCalls, policy: ReadPolicy): Promise<Parts> {
  const { configuration, hashKey, words, counts, profileRows } = task;
  const cache = new AnswerCache({
    memory: task.cache,
    thread: 1 + task.number,
    minTtlSeconds: configuration.CACHE_MIN_TTL,
    maxTtlSeconds: configuration.CACHE_MAX_TTL,
    targetHasher: configuration.INSPECT_CNAME ? new TargetHasher(hashKey) : null,
  });
  const files = new LaneFiles(task, hashKey);
  const rows = profileRows && new ProfileRows(profileRows.capacity, profileRows.memory);
  const counting = countersInto(counts, rows);
  const laneCounts = new LaneCounts(task.turns);
  const sockets: LaneSocket[] = [];
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
  const logCounts = new LogCounts(counts.logs);
  const write = postLines(words, (lines, count) => {
    report({ type: 'lines', lines, count });
  });
  const queryLog = await openLog(write, logCounts);
  const dnstapSender = createSender(configuration, silent, logCounts);
  const path = createQueryPath(configuration, {
    source: policy,
    hashKey,
    wallClockMs: clocks.wallMs,
    allowedClients: files.allowedClients,
    localRecords: files.localRecords,
    isReady: () => Atomics.load(words, LaneWord.ready) === 1,
    cache,
    upstream: () => forwarder,
    limits: new ClientLimits({
      queriesPerSecond: configuration.CLIENT_QUERY_RATE,
      errorsPerSecond: configuration.CLIENT_ERROR_RATE,
      handshakesPerSecond: 0,
      bytesPerSecond: configuration.CLIENT_UDP_BYTE_RATE,
      subscriber,
      nowSeconds,
      memory: task.limits,
      counts: counts.limits,
    }),
    cookies: new ServerCookies(task.cookieSecrets, subscriber, clocks.wallMs),
    ...counting,
    queryLog,
    dnstap: dnstapSender && new Dnstap(configuration, dnstapSender, nowMs),
    nowMs,
    nowSeconds,
    onDefect,
  });
  const poller = new SocketPoller(calls);
  const forwarder = createForwarder(configuration, {
    ...{ calls, upstreams: task.upstreams, forwarding: task.forwarding, subscriber, turn },
    threads: 1 + task.lanes,
    counts: counts.forwarding,
    generation: () => cache.generation,
    events: path,
    nowMs: clocks.monotonicMs,
    poller,
    onRecovered: () => cache.retryFailures(nowSeconds()),
    log: silent,
  });
  forwarder.open();
  dnstapSender?.open();
  const loadBalancers = CidrSet.revive(task.loadBalancers);
  const { counters } = counting;
  const shared = { calls, handler: path, counters, counts: laneCounts, loadBalancers };
  for (const socket of task.sockets) sockets.push(new LaneSocket({ ...shared, socket }));
  const fds = task.sockets.map(({ fd }) => fd);
  const loop = new LaneLoop({
    poller,
    sockets,
    upstreams: forwarder,
    fds,
    words,
    counts: laneCounts,
    nowMs,
    napMs: configuration.UDP_NAP_US / 1000,
    enter: turn.enter.bind(turn),
    leave: turn.leave.bind(turn),
    onTurn: task.parks && task.number === 0 ? parkingBy(calls, fds) : () => undefined,
  });
  const close = async (): Promise<void> => {
    forwarder.close();
    poller.close();
    queryLog?.flush();
    await dnstapSender?.close();
  };
  return { loop, close };
}

const calls = loadSystemCalls();
const policy = await ReadPolicy.connect(task.policyPort, task.hashKey);
const { loop, close } = await createLane(calls, policy);
Atomics.store(task.words, LaneWord.threadId, calls.gettid());
report({ type: 'running' });
await loop.run();
await close();
task.port.close();
task.policyPort.close();
