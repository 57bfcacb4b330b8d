/*
 * A stream lane: a thread that answers queries over TCP, TLS and HTTPS. The kernel spreads the connections over these
 * threads, each of which has listening sockets of its own.
 */
import { ConnectionCounts } from '@weir/clients';
import { TlsIdentity } from '@weir/ops';
import { loadSystemCalls } from '@weir/udp-batch';
import { workerData } from 'node:worker_threads';
import { StreamListeners } from '../listeners/stream-listeners.js';
import { throttled } from '../throttled.js';
import { endLane, openAnswering, startLane } from './answering.js';
import { LaneOrder, type LaneTask, LaneWord, type StreamTask } from './lane-task.js';

/** Time between turns that only take what has changed. */
const TURN_MS = 250;

const task = workerData as LaneTask & StreamTask;
const { configuration, words } = task;
const calls = loadSystemCalls();
const answering = await openAnswering(task, calls);
const { path, turn, turnMs, log, ...parts } = answering;
const { DNS_TLS_CERT: cert, DNS_TLS_KEY: key } = configuration;
const hasTls = task.sockets.some(({ tls, https }) => tls !== null || https !== null);
// The main thread, which has it too, reports what is wrong with it.
const identity = hasTls
  ? TlsIdentity.open({
      names: { prefix: 'DNS_TLS', cert, key },
      ticketKeys: task.ticketKeys,
      log: { info: () => undefined, warn: () => undefined },
    })
  : null;
const listeners = new StreamListeners({
  ...{ ...parts, configuration, sockets: task.sockets, threads: task.lanes, identity },
  connectionCounts: new ConnectionCounts(task.connections),
  unreadBytes: task.counts.unreadBytes,
  handler: path,
  nowMs: turnMs,
  onError: throttled((error: Error) =>
    log.error({ reason: error.message }, 'a listening socket has failed; it goes on'),
  ),
});
await listeners.start();
const timer = setInterval(() => {
  turn.enter();
  turn.leave();
  Atomics.add(words, LaneWord.turns, 1);
}, TURN_MS);
startLane(task, calls);

let done: LaneOrder = LaneOrder.run;
while (done !== LaneOrder.stop) {
  await Atomics.waitAsync(words, LaneWord.order, done).value;
  done = Atomics.load(words, LaneWord.order) as LaneOrder;
  if (done === LaneOrder.drain) listeners.drain();
  Atomics.store(words, LaneWord.done, done);
}
clearInterval(timer);
listeners.stop();
identity?.close();
await answering.close();
endLane(task);
