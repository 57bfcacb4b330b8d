import { discard, kernelDropsOf, type SystemCalls, UdpSocket } from '@weir/udp-batch';
import type { AddressInfo } from 'node:net';
import type { QueryCounters } from '../metrics/query-counters.js';
import { DropReason } from '../query/exchange.js';
import type { ClientAddress } from '@weir/clients';
import { explainListenError } from '@weir/ops';
import { type Connect, StreamListener, type StreamListenerOptions } from './stream-listener.js';

/** Size of the receive buffer that is asked for. */
export const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;
/** Longest wait of a lane in a system call. */
const WAIT_MS = 50;

export interface LaneSocketsOptions {
  readonly host: string;
  readonly ipv6Only: boolean;
  /** Number of lanes. */
  readonly count: number;
  readonly calls: SystemCalls;
  readonly counters: QueryCounters;
}

/**
 * UDP on one host for lanes: a socket for each, on the same port. The kernel gives all packets from one address and
 * port to the same socket. The sockets belong to the process, so they outlive the thread of a lane.
 */
export class LaneSockets {
  /** By lane. */
  sockets: readonly UdpSocket[] = [];

  constructor(private readonly options: LaneSocketsOptions) {}

  /** @throws the bind error (`EADDRINUSE` …). */
  start(port: number): AddressInfo {
    const { host, count } = this.options;
    // Sockets that share a port would hide that another process has it too.
    const alone = this.open(port, false);
    if (count === 1) this.sockets = [alone];
    else {
      alone.close();
      const opened: UdpSocket[] = [];
      this.sockets = opened;
      while (opened.length < count) opened.push(this.open(alone.port, true));
    }
    const family = alone.family === 6 ? 'IPv6' : 'IPv4';
    return { address: host, port: alone.port, family };
  }

  /** The smallest receive buffer that the kernel granted. */
  get receiveBufferBytes(): number {
    return Math.min(...this.sockets.map(({ receiveBufferBytes }) => receiveBufferBytes));
  }

  /** Number of queries that the kernel dropped because a receive buffer was full. */
  get kernelDrops(): number {
    const { calls } = this.options;
    return this.sockets.reduce((sum, { fd }) => sum + kernelDropsOf(calls, fd), 0);
  }

  /** The lanes have stopped. */
  close(): void {
    const { calls, counters } = this.options;
    for (const socket of this.sockets) {
      for (let left = discard(calls, socket); left > 0; left--) counters.drop(DropReason.draining);
      socket.close();
    }
    this.sockets = [];
  }

  private open(port: number, reusePort: boolean): UdpSocket {
    const { host, ipv6Only, calls } = this.options;
    return UdpSocket.open(calls, {
      host,
      port,
      ipv6Only,
      reusePort,
      receiveBufferBytes: RECEIVE_BUFFER_BYTES,
      timeoutMs: WAIT_MS,
    });
  }
}

/** The stream protocols. Null: TLS or HTTPS is off. */
export interface Connectors {
  readonly tcp: Connect;
  readonly tls: Connect | null;
  readonly https: Connect | null;
}

/** The ports of one address. 0: any free port. */
export interface Ports {
  readonly port: number;
  readonly tlsPort?: number | undefined;
  readonly httpsPort?: number | undefined;
}

/** An address on which queries are answered, and its ports. */
export type BoundAddress = AddressInfo & Ports;

interface HostListenersOptions extends Omit<StreamListenerOptions, 'connect' | 'isWithinRate'> {
  readonly connectors: Connectors;
  readonly udp: LaneSockets;
  /** Whether this client may begin a TLS handshake in this second. */
  readonly mayHandshake: (client: ClientAddress) => boolean;
}

/** All transports on one address. */
export class HostListeners {
  readonly udp: LaneSockets;
  private readonly tcp: StreamListener;
  private readonly tls: StreamListener | null;
  private readonly https: StreamListener | null;

  constructor(private readonly options: HostListenersOptions) {
    const { tcp, tls, https } = options.connectors;
    this.udp = options.udp;
    this.tcp = new StreamListener({ ...options, connect: tcp });
    const secure = { ...options, isWithinRate: options.mayHandshake };
    this.tls = tls && new StreamListener({ ...secure, connect: tls });
    this.https = https && new StreamListener({ ...secure, connect: https });
  }

  /** Port 0: TCP takes a free port, and UDP the same one. @throws StartError when a port is taken */
  async start({ port, tlsPort, httpsPort }: Ports): Promise<BoundAddress> {
    const bound = await this.startPlain(port);
    return {
      ...bound,
      ...(this.tls && { tlsPort: await this.startSecure(this.tls, 'DNS_TLS_PORT', tlsPort) }),
      ...(this.https && {
        httpsPort: await this.startSecure(this.https, 'DNS_HTTPS_PORT', httpsPort),
      }),
    };
  }

  /** Accepts no more connections and queries of clients; answers still go out. Lanes stop by themselves. */
  drain(): void {
    for (const listener of this.streams()) listener.drain();
  }

  stop(): void {
    this.udp.close();
    for (const listener of this.streams()) listener.stop();
  }

  private streams(): StreamListener[] {
    return [this.tcp, this.tls, this.https].filter((one) => one !== null);
  }

  private async startPlain(port: number): Promise<AddressInfo> {
    const { host } = this.options;
    try {
      for (;;) {
        const bound = await this.tcp.start(port);
        try {
          this.udp.start(bound.port);
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

  private async startSecure(listener: StreamListener, variable: string, port = 0): Promise<number> {
    const { host } = this.options;
    try {
      return (await listener.start(port)).port;
    } catch (error) {
      throw explainListenError(error, { host, port, variable });
    }
  }
}
