import { ConnectionCounts, ConnectionPool, SubscriberKey } from '@weir/clients';
import { parseCidrs } from '@weir/ops';
import { loadSystemCalls, openListening } from '@weir/udp-batch';
import { readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { RateLimits } from '../limits/rate-limits.js';
import { InputTurns } from '../listeners/input-turns.js';
import { StreamListener, type StreamListenerOptions } from '../listeners/stream-listener.js';
import { StreamListeners } from '../listeners/stream-listeners.js';
import { TlsAcceptor } from '../listeners/tls-acceptor.js';
import { TcpConnection } from '../listeners/tcp-connection.js';
import { UnreadBytes } from '../listeners/unread-bytes.js';
import { QueryCounters } from '../metrics/query-counters.js';
import { DropReason, Exchange, Transport } from '../query/exchange.js';
import type { Server } from './client.js';
import { CONFIGURATION } from './configuration.js';
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
  const server: Server = await listener.start({ host: '127.0.0.1', port: 0 });
  return { listener, handler, counters, server, unread, turns };
}

/** HTTPS in front of an `EchoHandler`, in this thread, until the end of the test. */
export async function startHttps(certificate: {
  readonly DNS_TLS_CERT: string;
  readonly DNS_TLS_KEY: string;
}) {
  const acceptor = new TlsAcceptor(new Uint8Array(32));
  const [cert, key] = [certificate.DNS_TLS_CERT, certificate.DNS_TLS_KEY].map((file) =>
    readFileSync(file, 'utf8'),
  );
  acceptor.use({ cert, key });
  const subscriber = new SubscriberKey({ policy: null }, 1);
  const nowSeconds = () => 1;
  const rates = {
    queriesPerSecond: 0,
    errorsPerSecond: 0,
    handshakesPerSecond: 0,
    bytesPerSecond: 0,
  };
  const open = () => openListening(loadSystemCalls(), { host: '127.0.0.1', port: 0 });
  const [tcp, https] = [open(), open()];
  const unreadBytes = new Float64Array(1);
  const listeners = new StreamListeners({
    configuration: CONFIGURATION,
    sockets: [{ tcp: tcp.fd, tls: null, https: https.fd }],
    threads: 1,
    connectionCounts: new ConnectionCounts(),
    unreadBytes,
    acceptor,
    handler: new EchoHandler(),
    counters: new QueryCounters(),
    subscriber,
    limits: new RateLimits({ ...rates, subscriber, nowSeconds }),
    allowedClients: { has: () => true },
    loadBalancers: parseCidrs([]),
    nowMs: elapsedMs,
    onError,
  });
  await listeners.start();
  onTestFinished(() => {
    listeners.stop();
  });
  return { port: https.port, unreadBytes: (): number => unreadBytes[0] };
}

export function droppedFor(counters: QueryCounters, why: keyof typeof DropReason) {
  return counters.droppedCounts().find(([labels]) => labels.why === why)?.[1];
}
