import { ConnectionPool, SubscriberKey } from '@weir/clients';
import { CidrSet } from '@weir/ops';
import { InputTurns } from '../listeners/input-turns.js';
import { SendSlots } from '../listeners/send-slots.js';
import { StreamListener, type StreamListenerOptions } from '../listeners/stream-listener.js';
import { TcpConnection } from '../listeners/tcp-connection.js';
import { UdpListener, type UdpListenerOptions } from '../listeners/udp-listener.js';
import { UdpSockets, type UdpSocketsOptions } from '../listeners/udp-sockets.js';
import { UnreadBytes } from '../listeners/unread-bytes.js';
import { QueryCounters } from '../metrics/query-counters.js';
import { DropReason } from '../query/drop-reason.js';
import { Exchange } from '../query/exchange.js';
import { Transport } from '../query/transport.js';
import type { Server } from './client.js';
import { EchoHandler } from './echo-handler.js';

const onError = (error: Error) => {
  throw error;
};
const elapsedMs = () => performance.now();

/** What UDP listeners in front of an `EchoHandler` share. */
function udpOptions(host: string, handler: EchoHandler) {
  const counters = new QueryCounters();
  const slots = new SendSlots(() => undefined);
  const loadBalancers = CidrSet.parse([]);
  return { host, handler, counters, slots, loadBalancers, onError };
}

/** A UDP listener in front of an `EchoHandler`. */
export async function startUdp(
  options: Partial<UdpListenerOptions> = {},
  handler = new EchoHandler(),
  port = 0,
) {
  const shared = udpOptions('127.0.0.1', handler);
  const listener = new UdpListener({ ...shared, ...options });
  const server: Server = await listener.start(port);
  return { listener, handler, counters: shared.counters, server };
}

/** UDP on a wildcard address in front of an `EchoHandler`. */
export async function startUdpSockets(
  options: Partial<UdpSocketsOptions> = {},
  handler = new EchoHandler(),
  port = 0,
) {
  const logged: { text: string; address?: string }[] = [];
  const write = (details: object, text: string) => {
    logged.push({ ...details, text });
  };
  const shared = { ...udpOptions('0.0.0.0', handler), log: { info: write, warn: write } };
  const sockets = new UdpSockets({ ...shared, ...options });
  const bound = await sockets.start(port);
  return { sockets, handler, counters: shared.counters, logged, port: bound.port };
}

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
    loadBalancers: CidrSet.parse([]),
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
