import {
  type ClientAddress,
  ClientConnections,
  type Connection,
  type SubscriberKey,
} from '@weir/clients';
import { CidrSet, explainListenError, StartError } from '@weir/ops';
import type { AddressInfo, Socket } from 'node:net';
import type { QueryCounters } from '../metrics/query-counters.js';
import { Exchange } from '../query/exchange.js';
import type { QueryHandler } from '../query/query-handler.js';
import { Transport } from '../query/transport.js';
import { Http1Server } from './https/http1-server.js';
import { HttpsConnection } from './https/https-connection.js';
import { StreamListener } from './stream-listener.js';
import { TcpConnection } from './tcp-connection.js';
import { TlsIdentity, type TlsLog } from './tls-identity.js';
import { UdpListener } from './udp-listener.js';

/** The part of the configuration that listening needs, under the names of the variables. */
export interface ListenersConfiguration {
  readonly CLIENT_TCP_CONNECTIONS: number;
  readonly DNS_HOST: string;
  readonly DNS_HTTPS_PORT: number | undefined;
  readonly DNS_PORT: number;
  readonly DNS_PROXY_PROTOCOL_FROM: CidrSet | undefined;
  readonly DNS_TLS_CERT: string | undefined;
  readonly DNS_TLS_KEY: string | undefined;
  readonly DNS_TLS_PORT: number | undefined;
}

export interface ListenersOptions {
  readonly configuration: ListenersConfiguration;
  readonly handler: QueryHandler;
  readonly counters: QueryCounters;
  readonly subscriber: SubscriberKey;
  /** Monotonic clock for idle connections, in milliseconds. */
  readonly nowMs: () => number;
  readonly log: TlsLog;
  /** Called with errors of listening sockets; the sockets go on. */
  readonly onError: (error: Error) => void;
}

/** The addresses on which queries are answered. */
export interface BoundAddresses extends AddressInfo {
  readonly tlsPort?: number;
  readonly httpsPort?: number;
}

type Connect = (socket: Socket, client: ClientAddress) => Connection;

/** A stream listener for TLS or HTTPS, and the variable of its port. */
interface SecureListener {
  readonly variable: 'DNS_TLS_PORT' | 'DNS_HTTPS_PORT';
  readonly port: number;
  readonly listener: StreamListener;
}

/**
 * All transports in front of one query path. They hand over the same bytes; they differ in framing, size limits and the
 * way back.
 */
export class Listeners {
  private readonly exchange = new Exchange();
  private readonly loadBalancers: CidrSet;
  private readonly connections: ClientConnections;
  private readonly udp: UdpListener;
  private readonly tcp: StreamListener;
  private readonly identity: TlsIdentity | null;
  private readonly secure: readonly SecureListener[];

  /** @throws StartError when TLS is configured and its files are not usable. */
  constructor(private readonly options: ListenersOptions) {
    const { configuration, handler, counters, subscriber, onError } = options;
    const { DNS_HOST: host, CLIENT_TCP_CONNECTIONS: maxConnections } = configuration;
    this.loadBalancers = configuration.DNS_PROXY_PROTOCOL_FROM ?? CidrSet.parse([]);
    this.connections = new ClientConnections(maxConnections, subscriber);
    this.udp = new UdpListener({
      host,
      handler,
      counters,
      loadBalancers: this.loadBalancers,
      onError,
    });
    this.tcp = this.streams((socket, client) => this.messages(socket, client, Transport.tcp));
    this.identity = openIdentity(options);
    this.secure = this.identity === null ? [] : this.secureListeners(this.identity);
  }

  /** Port 0: TCP takes a free port, and UDP the same one. @throws StartError when a port is taken */
  async start(): Promise<BoundAddresses> {
    try {
      const bound = await this.startPlain();
      const [tlsPort, httpsPort] = [
        await this.startSecure('DNS_TLS_PORT'),
        await this.startSecure('DNS_HTTPS_PORT'),
      ];
      return {
        ...bound,
        ...(tlsPort !== undefined && { tlsPort }),
        ...(httpsPort !== undefined && { httpsPort }),
      };
    } catch (error) {
      this.udp.close();
      this.stopStreams();
      throw error;
    }
  }

  /** Accepts no more queries; answers still go out. */
  drain(): void {
    this.udp.drain();
    for (const listener of this.streamListeners()) listener.drain();
  }

  /** Closes when the last UDP answer is out. */
  async stop(): Promise<void> {
    await this.udp.stop();
    this.stopStreams();
  }

  private stopStreams(): void {
    for (const listener of this.streamListeners()) listener.stop();
    this.identity?.close();
  }

  private streamListeners(): StreamListener[] {
    return [this.tcp, ...this.secure.map(({ listener }) => listener)];
  }

  private async startPlain(): Promise<AddressInfo> {
    const { DNS_HOST: host, DNS_PORT: port } = this.options.configuration;
    try {
      for (;;) {
        const bound = await this.tcp.start(port);
        try {
          await this.udp.start(bound.port);
          return bound;
        } catch (error) {
          // The port that TCP was given may be taken for UDP. Then try another one.
          if (port !== 0 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
          await new Promise((resolve) => this.tcp.close(resolve));
        }
      }
    } catch (error) {
      throw explainListenError(error, { host, port, variable: 'DNS_PORT' });
    }
  }

  private async startSecure(variable: SecureListener['variable']): Promise<number | undefined> {
    const one = this.secure.find((listener) => listener.variable === variable);
    if (one === undefined) return undefined;
    const { DNS_HOST: host } = this.options.configuration;
    try {
      return (await one.listener.start(one.port)).port;
    } catch (error) {
      throw explainListenError(error, { host, port: one.port, variable });
    }
  }

  private secureListeners(identity: TlsIdentity): SecureListener[] {
    const { DNS_TLS_PORT: tlsPort, DNS_HTTPS_PORT: httpsPort } = this.options.configuration;
    const list: SecureListener[] = [];
    if (tlsPort !== undefined) {
      // RFC 7858 §3.1. `dot` is the registered ALPN name.
      const connect: Connect = (socket, client) =>
        this.messages(identity.accept(socket, ['dot']), client, Transport.tls);
      list.push({ variable: 'DNS_TLS_PORT', port: tlsPort, listener: this.streams(connect) });
    }
    if (httpsPort !== undefined) {
      const http1 = new Http1Server();
      const connect: Connect = (socket, client) => this.https(identity, http1, socket, client);
      list.push({ variable: 'DNS_HTTPS_PORT', port: httpsPort, listener: this.streams(connect) });
    }
    return list;
  }

  private streams(connect: Connect): StreamListener {
    const { loadBalancers, connections } = this;
    const { counters, nowMs, onError, configuration } = this.options;
    const host = configuration.DNS_HOST;
    return new StreamListener({
      host,
      connect,
      counters,
      nowMs,
      loadBalancers,
      connections,
      onError,
    });
  }

  private messages(socket: Socket, client: ClientAddress, transport: Transport): TcpConnection {
    const { handler, counters, nowMs } = this.options;
    const { exchange } = this;
    return new TcpConnection({ socket, client, transport, handler, counters, exchange, nowMs });
  }

  private https(
    identity: TlsIdentity,
    http1: Http1Server,
    raw: Socket,
    client: ClientAddress,
  ): HttpsConnection {
    const { handler, counters, nowMs } = this.options;
    const { exchange } = this;
    const socket = identity.accept(raw, ['h2', 'http/1.1']);
    const speakHttp1 = http1.speak;
    return new HttpsConnection({ socket, client, handler, counters, exchange, nowMs, speakHttp1 });
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
