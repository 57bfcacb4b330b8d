import {
  type ClientAddress,
  type ConnectionCounts,
  ConnectionPool,
  type SubscriberKey,
} from '@weir/clients';
import type { CidrSet } from '@weir/ops';
import type { Socket } from 'node:net';
import type { SentConfiguration } from '../configuration.js';
import type { RateLimits } from '../limits/rate-limits.js';
import type { QueryCounters } from '../metrics/query-counters.js';
import { DropReason, Exchange, type QueryHandler, Transport } from '../query/exchange.js';
import { Http1Server } from './https/http1-connection.js';
import { HttpsConnection } from './https/https-connection.js';
import { InputTurns } from './input-turns.js';
import type { StreamSockets } from './listening-sockets.js';
import { type Connect, StreamListener } from './stream-listener.js';
import { TcpConnection } from './tcp-connection.js';
import type { TlsAcceptor } from './tls-acceptor.js';
import { MAX_CONNECTION_BYTES, UnreadBytes } from './unread-bytes.js';

const MEBIBYTE = 2 ** 20;

export interface StreamListenersOptions {
  readonly configuration: SentConfiguration;
  /** Of each address. */
  readonly sockets: readonly StreamSockets[];
  /** Threads that have such listeners. Each has an equal part of the limits of memory and of all connections. */
  readonly threads: number;
  /** Shared by these threads. */
  readonly connectionCounts: ConnectionCounts;
  /** See `UnreadBytes`. */
  readonly unreadBytes: Float64Array;
  /** For DNS over TLS and HTTPS. */
  readonly acceptor: TlsAcceptor;
  readonly handler: QueryHandler;
  readonly counters: QueryCounters;
  readonly subscriber: SubscriberKey;
  readonly limits: RateLimits;
  readonly allowedClients: Pick<CidrSet, 'has'>;
  readonly loadBalancers: CidrSet;
  /** Monotonic clock for idle connections, in milliseconds. */
  readonly nowMs: () => number;
  /** Called with errors of listening sockets; the sockets go on. */
  readonly onError: (error: Error) => void;
}

/**
 * TCP, TLS and HTTPS, on all addresses, in front of one query path. They hand over the same bytes; they differ in
 * framing, size limits and the way back.
 */
export class StreamListeners {
  private readonly all: { readonly listener: StreamListener; readonly fd: number }[] = [];

  constructor(private readonly options: StreamListenersOptions) {
    const { configuration, counters, subscriber, limits, allowedClients, threads } = options;
    const shared = {
      ...options,
      connections: new ConnectionPool({
        maxConnections: Math.ceil(configuration.DNS_TCP_CONNECTIONS / threads),
        maxPerSubscriber: configuration.CLIENT_TCP_CONNECTIONS,
        counts: options.connectionCounts,
        subscriber,
        isAllowed: (client) => allowedClients.has(client),
        onEvicted: () => counters.drop(DropReason.crowded),
      }),
    };
    const mayHandshake = (client: ClientAddress): boolean => !limits.exceedsHandshakeRate(client);
    const { tcp, tls, https } = this.connectors();
    for (const host of options.sockets) {
      this.add(host.tcp, new StreamListener({ ...shared, connect: tcp }));
      const secure = { ...shared, isWithinRate: mayHandshake };
      if (host.tls !== null) this.add(host.tls, new StreamListener({ ...secure, connect: tls }));
      if (host.https !== null)
        this.add(host.https, new StreamListener({ ...secure, connect: https }));
    }
  }

  /** The sockets are closed with the listeners from now on. */
  async start(): Promise<void> {
    await Promise.all(this.all.map(({ listener, fd }) => listener.start({ fd })));
  }

  /** Accepts no more connections and queries; answers still go out. */
  drain(): void {
    for (const { listener } of this.all) listener.drain();
  }

  stop(): void {
    for (const { listener } of this.all) listener.stop();
  }

  private add(fd: number, listener: StreamListener): void {
    this.all.push({ listener, fd });
  }

  private connectors(): Record<'tcp' | 'tls' | 'https', Connect> {
    const { configuration, handler, counters, nowMs, subscriber, threads, unreadBytes, acceptor } =
      this.options;
    const part = (configuration.DNS_TCP_UNREAD_MB * MEBIBYTE) / threads;
    const maxUnread = Math.max(part, MAX_CONNECTION_BYTES);
    const shared = {
      ...{ handler, counters, nowMs },
      exchange: new Exchange(),
      unread: new UnreadBytes(maxUnread, counters, unreadBytes),
      turns: new InputTurns(subscriber, nowMs),
    };
    const messages =
      (transport: Transport, secure = (socket: Socket) => socket): Connect =>
      (socket, client, idleMs) =>
        new TcpConnection({ ...shared, transport, socket: secure(socket), client, idleMs });
    const http1 = new Http1Server();
    return {
      tcp: messages(Transport.tcp),
      // RFC 7858 §3.1. `dot` is the registered ALPN name.
      tls: messages(Transport.tls, (socket) => acceptor.accept(socket, ['dot'])),
      https: (accepted, client) => {
        const socket = acceptor.accept(accepted, ['h2', 'http/1.1']);
        return new HttpsConnection({ ...shared, http1, socket, client });
      },
    };
  }
}
