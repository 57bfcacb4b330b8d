import { encodeQuery } from '@weir/dns-wire/testing';
import { CidrSet } from '@weir/ops';
import {
  BATCH,
  BatchReceiver,
  BatchSender,
  loadSystemCalls,
  MSG_DONTWAIT,
  routeTo,
  UdpSocket,
} from '@weir/udp-batch';
import { getHeapStatistics } from 'node:v8';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LaneCounts } from '../lanes/lane-counts.js';
import { LaneLoop } from '../lanes/lane-loop.js';
import { LaneSocket } from '../lanes/lane-socket.js';
import { LANE_WORDS } from '../lanes/lane-task.js';
import { QueryCounters } from '../metrics/query-counters.js';
import { EchoHandler } from '../testing/echo-handler.js';

const ROUNDS = 7;
const TURNS = 200;

/** A lane without its thread, in front of a handler that answers at once, and a client that asks in batches. */
function createLane(queries: number) {
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
  const lane = new LaneSocket({
    ...{ calls, socket, handler, counts },
    counters: new QueryCounters(),
    loadBalancers: CidrSet.parse([]),
  });
  const nothing = () => undefined;
  const loop = new LaneLoop({
    calls,
    sockets: [lane],
    fds: [socket.fd],
    words: new Int32Array(new SharedArrayBuffer(4 * LANE_WORDS)),
    counts,
    nowMs: () => performance.now(),
    napMs: 0.001,
    ...{ enter: nothing, leave: nothing, afterBatch: nothing, onTurn: nothing },
  });
  const client = open();
  const sender = new BatchSender(calls, client, MSG_DONTWAIT);
  const receiver = new BatchReceiver(calls, client);
  const route = routeTo('127.0.0.1', socket.port);
  const packet = encodeQuery('www.example.com', 1, { udpBytes: 1232 });
  return {
    counts,
    /** One batch through the lane. */
    turn: (): void => {
      for (let i = 0; i < queries; i++) sender.queue(route, packet, packet.length);
      sender.flush(nothing);
      loop.turn();
      receiver.receive(MSG_DONTWAIT);
    },
  };
}

describe('a turn of a lane', () => {
  // After a batch that is not full it naps.
  it.each([BATCH, BATCH - 1])(
    'allocates nothing, from socket to socket (%i queries)',
    (queries) => {
      const { turn, counts } = createLane(queries);
      const turns = (): void => {
        for (let i = 0; i < TURNS; i++) turn();
      };
      for (let i = 0; i < 4; i++) turns();
      const grown: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const before = getHeapStatistics().used_heap_size;
        turns();
        grown.push(getHeapStatistics().used_heap_size - before);
      }
      expect(counts.answers).toBeGreaterThan((TURNS * ROUNDS * BATCH) / 2);
      // The median, because garbage collection or compilation may disturb some rounds. The calls of libc may leave some
      // words a turn; one small object for each query would be 16 bytes.
      expect(grown.sort((x, y) => x - y)[ROUNDS >> 1] / (TURNS * BATCH)).toBeLessThan(8);
    },
    60_000,
  );
});
