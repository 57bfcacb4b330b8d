import { ConnectionCounts } from '@weir/clients';
import { loadSystemCalls } from '@weir/udp-batch';
import { StreamListeners } from '../listeners/stream-listeners.js';
import { TlsAcceptor } from '../listeners/tls-acceptor.js';
import { throttled } from '../throttled.js';
import { endLane, openAnswering, type Report, startLane } from './answering.js';
import { LaneOrder, type LaneTask, LaneWord, type StreamTask } from './lane-task.js';

/** Time between turns that only take what has changed. */
const TURN_MS = 250;

/**
 * A stream lane: it answers queries over TCP, TLS and HTTPS in the event loop of this thread. The kernel spreads
 * the connections over these lanes, each of which has listening sockets of its own. Resolves when it has ended by
 * order.
 */
export async function runStreamLane(task: LaneTask & StreamTask, report: Report): Promise<void> {
  const { configuration, words, counts } = task;
  const calls = loadSystemCalls();
  const acceptor = new TlsAcceptor(task.ticketSecret);
  const onTls = acceptor.use.bind(acceptor);
  const answering = await openAnswering(task, { calls, report, onTls });
  const { path, takeChanges, turnMs, log, ...parts } = answering;
  const listeners = new StreamListeners({
    ...{ ...parts, configuration, sockets: task.sockets, threads: task.lanes, acceptor },
    connectionCounts: new ConnectionCounts(task.connections),
    unreadBytes: counts.unreadBytes,
    handler: path,
    nowMs: turnMs,
    onError: throttled((error: Error) =>
      log.error({ reason: error.message }, 'a listening socket has failed; it goes on'),
    ),
  });
  const failed = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  try {
    await listeners.start();
    timer = setInterval(() => {
      try {
        takeChanges();
        Atomics.add(words, LaneWord.heartbeats, 1);
      } catch (error) {
        failed.reject(error);
      }
    }, TURN_MS);
    startLane(task, calls, report);
    let done: LaneOrder = LaneOrder.run;
    while (done !== LaneOrder.stop) {
      await Promise.race([Atomics.waitAsync(words, LaneWord.order, done).value, failed.promise]);
      done = Atomics.load(words, LaneWord.order) as LaneOrder;
      if (done === LaneOrder.drain) listeners.drain();
      Atomics.store(words, LaneWord.done, done);
    }
  } finally {
    clearInterval(timer);
    listeners.stop();
    await answering.close();
    endLane(task);
  }
}
