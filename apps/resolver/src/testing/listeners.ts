import { ConnectionPool, SubscriberKey } from '@weir/clients';
import { parseCidrs } from '@weir/ops';
import { InputTurns } from '../listeners/input-turns.js';
import { StreamListener, type StreamListenerOptions } from '../listeners/stream-listener.js';
import { TcpConnection } from '../listeners/tcp-connection.js';
import { UnreadBytes } from '../listeners/unread-bytes.js';
import { QueryCounters } from '../metrics/query-counters.js';
import { DropReason, Exchange, Transport } from '../query/exchange.js';
import type { Server } from './client.js';
import { EchoHandler } from './echo-handler.js';

const onError = (error: Error) => {
  throw error;
};
const elapsedMs = () => performance.now();

/** A TCP listener in front of an `EchoHandler`. */
export async function startTcp(
  options: Partial<StreamListenerOptions> & {
    maxPerClient?: number;
    maxConnections?: number;
    maxUnreadBytes?: number;
  } = {},
  handler = new EchoHandler(),
) {
  const counters = new QueryCounters();
  const exchange = new Exchange();
  const transport = Transport.tcp;
  const { nowMs = elapsedMs, maxUnreadBytes = 1 << 26 } = options;
  const unread = new UnreadBytes(maxUnreadBytes, counters);
  const subscriber = new SubscriberKey({ policy: null }, 1);
  const turns = new InputTurns(subscriber, elapsedMs);
  const shared = { transport, handler, counters, exchange, unread, turns, nowMs };
  const listener = new StreamListener({
    host: '127.0.0.1',
    connect: (socket, client, idleMs) => new TcpConnection({ ...shared, socket, client, idleMs }),
    counters,
    nowMs,
    loadBalancers: parseCidrs([]),
    connections: new ConnectionPool({
      maxConnections: options.maxConnections ?? 1024,
      maxPerSubscriber: options.maxPerClient ?? 128,
      subscriber,
      isAllowed: () => true,
      onEvicted: () => {
        counters.drop(DropReason.crowded);
      },
    }),
    onError,
    ...options,
  });
  const server: Server = await listener.start(0);
  return { listener, handler, counters, server, unread, turns };
}

export function droppedFor(counters: QueryCounters, why: keyof typeof DropReason) {
  return counters.droppedCounts().find(([labels]) => labels.why === why)?.[1];
}
