import { encodeQuery } from '@weir/dns-wire/testing';
import { parseCidrs } from '@weir/ops';
import {
  BatchReceiver,
  BatchSender,
  loadSystemCalls,
  MSG_DONTWAIT,
  SocketPoller,
  routeTo,
  UdpSocket,
} from '@weir/udp-batch';
import { onTestFinished } from 'vitest';
import { LaneCounts } from '../lanes/lane-counts.js';
import { LaneLoop, type LaneUpstreams } from '../lanes/lane-loop.js';
import { LaneSocket } from '../lanes/lane-socket.js';
import { LANE_WORDS } from '../lanes/lane-task.js';
import { QueryCounters } from '../metrics/query-counters.js';
import { EchoHandler } from './echo-handler.js';

const NO_UPSTREAMS: LaneUpstreams = {
  isWaiting: false,
  isWaitingForStreams: false,
  hasPieces: false,
  receive: () => 0,
  flush: () => undefined,
};

/**
 * A lane without its thread, in front of a handler that answers at once, and a client that asks in batches.
 * @param hasClosed whether it has another socket, whose descriptor is closed
 */
export function createLane(queries: number, hasClosed = false) {
  const calls = loadSystemCalls();
  const open = () => {
    const socket = UdpSocket.open(calls, { host: '127.0.0.1', port: 0, timeoutMs: 1_000 });
    onTestFinished(() => {
      socket.close();
    });
    return socket;
  };
  const socket = open();
  const counts = new LaneCounts(new Float64Array(LaneCounts.size));
  const handler = new EchoHandler();
  // It records clients, which is not part of a lane.
  const clients = { push: () => 0 } as never;
  Object.assign(handler, { clients });
  const laneSocket = (socket: UdpSocket) =>
    new LaneSocket({
      ...{ calls, socket, handler, counts },
      counters: new QueryCounters(),
      loadBalancers: parseCidrs([]),
    });
  const listening = hasClosed ? [socket, open()] : [socket];
  const nothing = () => undefined;
  const words = new Int32Array(new SharedArrayBuffer(4 * LANE_WORDS));
  const poller = new SocketPoller(calls);
  onTestFinished(() => {
    poller.close();
  });
  const loop = new LaneLoop({
    poller,
    sockets: listening.map(laneSocket),
    upstreams: NO_UPSTREAMS,
    fds: listening.map(({ fd }) => fd),
    words,
    counts,
    nowMs: () => performance.now(),
    napMs: 0.001,
    ...{ enter: nothing, leave: nothing, onTurn: nothing },
  });
  const client = open();
  if (hasClosed) calls.close(listening[1].fd);
  const sender = new BatchSender(calls, client, MSG_DONTWAIT);
  const receiver = new BatchReceiver(calls, client);
  const route = routeTo('127.0.0.1', socket.port);
  const packet = encodeQuery('www.example.com', 1, { udpBytes: 1232 });
  return {
    counts,
    words,
    /** One batch through the lane. */
    turn: (asked = queries): void => {
      for (let i = 0; i < asked; i++) sender.queue(route, packet, packet.length);
      sender.flush(nothing);
      loop.turn();
      receiver.receive(MSG_DONTWAIT);
    },
  };
}
