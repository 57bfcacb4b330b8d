import { type ClientAddress, ConnectionPool, type SubscriberKey } from '@weir/clients';
import { type CidrSet, parseCidrs, type Logger, StartError, TlsIdentity } from '@weir/ops';
import type { SystemCalls, UdpSocketHandle } from '@weir/udp-batch';
import { isIPv4, isIPv6, type Socket } from 'node:net';
import type { DnsConfiguration } from '../configuration.js';
import type { ClientLimits } from '../limits/client-limits.js';
import type { QueryCounters } from '../metrics/query-counters.js';
import { DropReason, Exchange, type QueryHandler, Transport } from '../query/exchange.js';
import {
  type BoundAddress,
  type Connectors,
  HostListeners,
  LaneSockets,
  RECEIVE_BUFFER_BYTES,
} from './host-listeners.js';
import { Http1Server } from './https/http1-connection.js';
import { HttpsConnection } from './https/https-connection.js';
import { InputTurns } from './input-turns.js';
import type { Connect } from './stream-listener.js';
import { TcpConnection } from './tcp-connection.js';
import { UnreadBytes } from './unread-bytes.js';

const MEBIBYTE = 2 ** 20;

export interface ListenersOptions {
  readonly configuration: DnsConfiguration;
  readonly handler: QueryHandler;
  readonly counters: QueryCounters;
  readonly subscriber: SubscriberKey;
  readonly limits: ClientLimits;
  readonly allowedClients: Pick<CidrSet, 'has'>;
  readonly laneCount: number;
  readonly calls: SystemCalls;
  /** Monotonic clock for idle connections, in milliseconds. */
  readonly nowMs: () => number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Called with errors of listening sockets; the sockets go on. */
  readonly onError: (error: Error) => void;
}

/** The first of the addresses on which queries are answered, and the ports, which are the same for all. */
export interface BoundAddresses extends BoundAddress {
  readonly addresses: readonly string[];
}

/**
 * All transports, on all addresses, in front of one query path. They hand over the same bytes; they differ in framing,
 * size limits and the way back.
 */
export class Listeners {
  private readonly exchange = new Exchange();
  /** The certificate for DNS over TLS and HTTPS; null: neither is offered. */
  readonly identity: TlsIdentity | null;
  private readonly hosts: readonly HostListeners[];
  private readonly unread: UnreadBytes;
  private readonly turns: InputTurns;

  /** @throws StartError when TLS is configured and its files are not usable. */
  constructor(private readonly options: ListenersOptions) {
    const { configuration, counters, subscriber, limits, allowedClients } = options;
    const { DNS_HOST: addresses } = configuration;
    this.unread = new UnreadBytes(configuration.DNS_TCP_UNREAD_MB * MEBIBYTE, counters);
    this.turns = new InputTurns(subscriber, options.nowMs);
    this.identity = openIdentity(options);
    const shared = {
      ...options,
      connectors: this.connectors(),
      loadBalancers: configuration.DNS_PROXY_PROTOCOL_FROM ?? parseCidrs([]),
      connections: new ConnectionPool({
        maxConnections: configuration.DNS_TCP_CONNECTIONS,
        maxPerSubscriber: configuration.CLIENT_TCP_CONNECTIONS,
        subscriber,
        isAllowed: (client) => allowedClients.has(client),
        onEvicted: () => counters.drop(DropReason.crowded),
      }),
      mayHandshake: (client: ClientAddress) => !limits.exceedsHandshakeRate(client),
    };
    const hasIpv4 = addresses.some((address) => isIPv4(address));
    this.hosts = addresses.map((host) => {
      const ipv6Only = hasIpv4 && isIPv6(host);
      const udp = new LaneSockets({ ...options, count: options.laneCount, host, ipv6Only });
      return new HostListeners({ ...shared, udp, host, ipv6Only });
    });
  }

  /** The sockets of each lane, one for each address. */
  get laneSockets(): readonly (readonly UdpSocketHandle[])[] {
    return Array.from({ length: this.options.laneCount }, (_, lane) =>
      this.hosts.map(({ udp }) => udp.sockets[lane]),
    );
  }

  /**
   * Port 0: a free port of the first address; the other addresses take the same.
   * @throws StartError when a port is taken; `stop` closes the others
   */
  async start(): Promise<BoundAddresses> {
    const { DNS_HOST, DNS_PORT, DNS_TLS_PORT, DNS_HTTPS_PORT } = this.options.configuration;
    const ports = { port: DNS_PORT, tlsPort: DNS_TLS_PORT, httpsPort: DNS_HTTPS_PORT };
    const [first, ...others] = this.hosts;
    const bound = await first.start(ports);
    for (const host of others) await host.start(bound);
    this.logReceiveBuffers();
    return { ...bound, addresses: DNS_HOST };
  }

  /** Number of UDP queries that the kernel dropped because a receive buffer was full. */
  kernelDrops(): number {
    return this.hosts.reduce((sum, { udp }) => sum + udp.kernelDrops, 0);
  }

  /** Bytes of answers that clients have not read, and of HTTP requests that are not over, over all connections. */
  get unreadBytes(): number {
    return this.unread.total;
  }

  private logReceiveBuffers(): void {
    const { DNS_HOST: addresses } = this.options.configuration;
    const receiveBuffers = Object.fromEntries(
      this.hosts.map(({ udp }, i) => [addresses[i], udp.receiveBufferBytes]),
    );
    const details = { receiveBuffers, wantedBytes: RECEIVE_BUFFER_BYTES };
    const isSmall = Object.values(receiveBuffers).some((bytes) => bytes < RECEIVE_BUFFER_BYTES);
    if (isSmall)
      this.options.log.warn(details, 'receive buffers are small: raise net.core.rmem_max');
    else this.options.log.info(details, 'receive buffers');
  }

  /** Accepts no more queries; answers still go out. */
  drain(): void {
    for (const host of this.hosts) host.drain();
  }

  stop(): void {
    for (const host of this.hosts) host.stop();
    this.identity?.close();
  }

  private connectors(): Connectors {
    const { configuration, handler, counters, nowMs } = this.options;
    const { DNS_TLS_PORT: tlsPort, DNS_HTTPS_PORT: httpsPort } = configuration;
    const { exchange, unread, turns, identity } = this;
    const shared = { handler, counters, exchange, unread, turns, nowMs };
    const messages =
      (transport: Transport, secure = (socket: Socket) => socket): Connect =>
      (socket, client, idleMs) =>
        new TcpConnection({ ...shared, transport, socket: secure(socket), client, idleMs });
    const tcp = messages(Transport.tcp);
    if (identity === null) return { tcp, tls: null, https: null };
    // RFC 7858 §3.1. `dot` is the registered ALPN name.
    const tls = messages(Transport.tls, (socket) => identity.accept(socket, ['dot']));
    const http1 = new Http1Server();
    const https: Connect = (accepted, client) => {
      const socket = identity.accept(accepted, ['h2', 'http/1.1']);
      return new HttpsConnection({ ...shared, http1, socket, client });
    };
    return {
      tcp,
      tls: tlsPort === undefined ? null : tls,
      https: httpsPort === undefined ? null : https,
    };
  }
}

/** Null when neither TLS nor HTTPS is configured. */
function openIdentity({ configuration, log }: ListenersOptions): TlsIdentity | null {
  const { DNS_TLS_PORT: tlsPort, DNS_HTTPS_PORT: httpsPort } = configuration;
  if (tlsPort === undefined && httpsPort === undefined) return null;
  const wanted = tlsPort === undefined ? 'DNS_HTTPS_PORT' : 'DNS_TLS_PORT';
  const { DNS_TLS_CERT: cert, DNS_TLS_KEY: key } = configuration;
  const identity = TlsIdentity.open({ names: { prefix: 'DNS_TLS', cert, key }, log });
  if (identity === null) throw new StartError(`DNS_TLS_CERT must be given with ${wanted}`);
  return identity;
}
