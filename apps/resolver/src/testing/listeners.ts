import { ClientConnections, SubscriberKey } from '@weir/clients';
import { CidrSet } from '@weir/ops';
import { Exchange } from '../query/exchange.js';
import { StreamListener, type StreamListenerOptions } from '../listeners/stream-listener.js';
import { TcpConnection } from '../listeners/tcp-connection.js';
import { UdpListener, type UdpListenerOptions } from '../listeners/udp-listener.js';
import { type Dropped, QueryCounters, Transport } from '../metrics/query-counters.js';
import type { Server } from './client.js';
import { EchoPath } from './echo-path.js';

const onFault = (error: Error) => {
  throw error;
};
const elapsedMs = () => performance.now();

/** A UDP listener before an echo. */
export async function startUdp(
  options: Partial<UdpListenerOptions> = {},
  handler = new EchoPath(),
  port = 0,
) {
  const counters = new QueryCounters();
  const balancers = CidrSet.parse([]);
  const host = '127.0.0.1';
  const listener = new UdpListener({ host, handler, counters, balancers, onFault, ...options });
  const server: Server = await listener.start(port);
  return { listener, handler, counters, server };
}

/** A TCP listener before an echo. */
export async function startTcp(
  options: Partial<StreamListenerOptions> & { maxPerClient?: number } = {},
  handler = new EchoPath(),
) {
  const counters = new QueryCounters();
  const exchange = new Exchange();
  const transport = Transport.tcp;
  const { nowMs = elapsedMs } = options;
  const listener = new StreamListener({
    host: '127.0.0.1',
    connect: (socket, client) =>
      new TcpConnection({ socket, client, transport, handler, counters, exchange, nowMs }),
    counters,
    nowMs,
    balancers: CidrSet.parse([]),
    connections: new ClientConnections(
      options.maxPerClient ?? 128,
      new SubscriberKey({ policy: null }, 1),
    ),
    onFault,
    ...options,
  });
  const server: Server = await listener.start(0);
  return { listener, handler, counters, server };
}

export function droppedFor(counters: QueryCounters, why: keyof typeof Dropped) {
  return counters.droppedCounts().find(([labels]) => labels.why === why)?.[1];
}
