/*
 * A lane: a thread that answers UDP queries. It blocks in a system call between batches, and sees changes at the start
 * of each batch. Its event loop has a turn now and then, for timers and for TCP and TLS to upstreams.
 */
import { loadSystemCalls, PortSpread, SocketPoller } from '@weir/udp-batch';
import { workerData } from 'node:worker_threads';
import { throttled } from '../throttled.js';
import { endLane, openAnswering, postReport, startLane } from './answering.js';
import { AwakeLanes } from './awake-lanes.js';
import { LaneCounts } from './lane-counts.js';
import { LaneLoop } from './lane-loop.js';
import { LaneSocket } from './lane-socket.js';
import type { LaneTask, UdpTask } from './lane-task.js';

const task = workerData as LaneTask & UdpTask;
const calls = loadSystemCalls();
const poller = new SocketPoller(calls);
const answering = await openAnswering(task, { calls, report: postReport, poller });
const { path, forwarder, turn, nowMs, log, counters, loadBalancers } = answering;
const counts = new LaneCounts(task.laneCounts);
const fds = task.sockets.map(({ fd }) => fd);

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** What the first lane does after each turn. */
function parking(): AwakeLanes['onTurn'] {
  const onRefused = throttled((error: unknown) => {
    log.warn({ err: error }, 'the kernel does not spread the queries anew');
  }, nowMs);
  const spread = new PortSpread(calls, fds);
  const awake = new AwakeLanes(spread, task.awake, task.lanes, threadCpuMs, onRefused);
  return awake.onTurn.bind(awake);
}

const loop = new LaneLoop({
  poller,
  sockets: task.sockets.map(
    (socket) => new LaneSocket({ calls, handler: path, counters, counts, loadBalancers, socket }),
  ),
  upstreams: forwarder,
  fds,
  words: task.words,
  counts,
  nowMs,
  napMs: task.configuration.UDP_NAP_US / 1000,
  enter: turn.enter.bind(turn),
  leave: turn.leave.bind(turn),
  onTurn: task.parks && task.number === 0 ? parking() : () => undefined,
});
startLane(task, calls, postReport);
await loop.run();
await answering.close();
poller.close();
endLane(task);
