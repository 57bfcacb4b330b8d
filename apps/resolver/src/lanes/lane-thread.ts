/*
 * A lane: a thread that answers UDP queries from memory. It blocks in a system call between batches, so its event loop
 * never runs; it sees changes at the start of each batch.
 */
import { SubscriberKey } from '@weir/clients';
import type { HashKey } from '@weir/dns-name';
import { CidrSet } from '@weir/ops/cidr-set';
import { loadSystemCalls, PortSpread, type SystemCalls } from '@weir/udp-batch';
import { parentPort, workerData, receiveMessageOnPort } from 'node:worker_threads';
import { SharedCache } from '../cache/cache-reader.js';
import { withTimes } from '../clocks.js';
import { ClientLimits } from '../limits/client-limits.js';
import { ServerCookies } from '../limits/server-cookies.js';
import { LocalRecords } from '@weir/policy/answers';
import { ProfileRows } from '../metrics/profile-counters.js';
import { countersInto } from '../metrics/thread-counts.js';
import { createQueryPath } from '../query-path/create-query-path.js';
import { ReadPolicy } from '../shared-policy/read-policy.js';
import { throttled } from '../throttled.js';
import { AwakeLanes } from './awake-lanes.js';
import { Handover, HandoverWriter } from './handover.js';
import { LaneCounts } from './lane-counts.js';
import { LaneLoop } from './lane-loop.js';
import { LaneSocket } from './lane-socket.js';
import { type LaneReport, type LaneTask, LaneWord, type LaneFiles as Files } from './lane-task.js';
import { MainWatch } from '../threads/thread-watch.js';

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

const MIN_PATIENCE_MS = 1_000;

const report = (message: LaneReport): void => parentPort?.postMessage(message);

/** The clock of the main thread, in milliseconds. */
const offsetMs =
  task.clock.monotonicMs +
  Number(process.hrtime.bigint() - task.clock.hrtimeNs) / 1e6 -
  performance.now();
const real = { wallMs: Date.now, monotonicMs: () => performance.now() + offsetMs };
const { wallMs, monotonicMs: nowMs } = withTimes(real, task.times);
/** The time of this batch. To ask for it costs a query more than a table does. */
const now = { wallMs: 0, seconds: 0 };
const wallClockMs = (): number => now.wallMs;
const nowSeconds = (): number => now.seconds;
const takeTime = (): void => {
  now.wallMs = wallMs();
  now.seconds = Math.floor(nowMs() / 1000);
};
takeTime();

const onDefect = throttled((error: unknown) => {
  report({ type: 'defect', error });
}, nowMs);

const onRefused = throttled((error: unknown) => {
  report({ type: 'refused', error });
}, nowMs);

/** The main thread tells a few times a second that it makes turns. */
function patienceMs(staleAfterMs: number): number {
  return staleAfterMs === 0 ? 0 : Math.max(staleAfterMs, MIN_PATIENCE_MS);
}

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

function createLoop(calls: SystemCalls, policy: ReadPolicy): LaneLoop {
  const { configuration, hashKey, words, counts, profileRows } = task;
  const cache = new SharedCache(task.cache);
  const files = new LaneFiles(task, hashKey);
  const rows = profileRows && new ProfileRows(profileRows.capacity, profileRows.memory);
  const counting = countersInto(counts, rows);
  const laneCounts = new LaneCounts(task.turns);
  const sockets: LaneSocket[] = [];
  const main = new MainWatch(task.mainTurns, patienceMs(configuration.CACHE_STALE_AFTER_MS));
  const subscriber = new SubscriberKey(policy, task.subscriberSalt);
  const handover = new Handover({
    ring: new HandoverWriter(task.ring),
    cache,
    isMainLate: main.isLate.bind(main),
    paths: sockets,
    counts: laneCounts,
    nowMs,
    wake: task.wake,
  });
  const path = createQueryPath(configuration, {
    source: policy,
    hashKey,
    wallClockMs,
    allowedClients: files.allowedClients,
    localRecords: files.localRecords,
    isReady: () => Atomics.load(words, LaneWord.ready) === 1,
    cache,
    keep: () => {
      throw new Error('a lane does not write the cache');
    },
    upstream: () => handover,
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
    cookies: new ServerCookies(task.cookieSecrets, subscriber, wallClockMs),
    ...counting,
    queryLog: null,
    dnstap: null,
    nowMs,
    nowSeconds,
    onDefect,
  });
  const loadBalancers = CidrSet.revive(task.loadBalancers);
  const handler = task.handsOverAll ? handover : path;
  const { counters } = counting;
  const shared = { calls, handler, counters, counts: laneCounts, loadBalancers };
  for (const socket of task.sockets) sockets.push(new LaneSocket({ ...shared, socket }));
  const fds = task.sockets.map(({ fd }) => fd);
  return new LaneLoop({
    calls,
    sockets,
    fds,
    words,
    counts: laneCounts,
    nowMs,
    napMs: configuration.UDP_NAP_US / 1000,
    enter: () => {
      files.update();
      main.update(performance.now());
      policy.enter();
      takeTime();
    },
    leave: policy.leave.bind(policy),
    afterBatch: handover.afterBatch,
    onTurn: task.parks && task.number === 0 ? parkingBy(calls, fds) : () => undefined,
  });
}

const calls = loadSystemCalls();
const loop = createLoop(calls, await ReadPolicy.connect(task.policyPort, task.hashKey));
Atomics.store(task.words, LaneWord.threadId, calls.gettid());
report({ type: 'running' });
loop.run();
task.port.close();
task.policyPort.close();
