/*
 * The thread of the feed: follows the log, changes the policy that other threads read, and acknowledges. It has an
 * event loop of its own, so nothing that delays queries delays a change.
 */
import { createLogger, StartError } from '@weir/ops';
import { type FollowedPolicy, followPolicy, type OwnStatus } from '@weir/policy-feed';
import { openTelemetry, type Telemetry } from '@weir/telemetry';
import { loadSystemCalls, useHugePages } from '@weir/udp-batch';
import { parentPort, workerData } from 'node:worker_threads';
import { readersOf } from '../shared-policy/policy-readers.js';
import { type FeedOrder, type FeedReport, type FeedTask, FeedWord } from './feed-task.js';

/** Time between states. There is one before each acknowledgement, too. */
const STATE_MS = 250;

const { configuration, name, readers: mostReaders, states, words } = workerData as FeedTask;

const report = (message: FeedReport): void => parentPort?.postMessage(message);

let followed: FollowedPolicy | null = null;
let status: OwnStatus | undefined;

function tellState(): void {
  Atomics.add(words, FeedWord.heartbeats, 1);
  states.postMessage(followed?.state());
}

function takeOrders(telemetry: Telemetry | null, { target, follower }: FollowedPolicy): void {
  const readers = readersOf(target.writer);
  const timer = setInterval(tellState, STATE_MS);
  const start = async (): Promise<void> => {
    await follower.start();
    tellState();
    report({ type: 'atHead' });
  };
  const stop = async (): Promise<void> => {
    await follower.stop();
    await telemetry?.stop();
    clearInterval(timer);
    report({ type: 'stopped' });
  };
  parentPort?.on('message', (order: FeedOrder) => {
    if (order.type === 'connect') readers.connect(order.reader, order.port);
    else if (order.type === 'status') ({ status } = order);
    else if (order.type === 'start') void start();
    else void stop();
  });
}

Atomics.store(words, FeedWord.threadId, loadSystemCalls().gettid());
const log = createLogger(
  { name: 'resolver', level: configuration.LOG_LEVEL },
  { write: (line) => report({ type: 'logged', line }) },
);
try {
  const telemetry = await openTelemetry({ process: 'resolver', configuration, log });
  followed = followPolicy({
    kind: 'resolver',
    name,
    configuration,
    log,
    tracer: telemetry?.tracer,
    readers: mostReaders,
    adviseHugePages: useHugePages,
    onAcknowledge: tellState,
    status: () => status,
  });
  tellState();
  takeOrders(telemetry, followed);
  report({ type: 'opened' });
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  report({ type: 'failed', reason: error.message });
}
