import type { ClientAddress, ConnectionPool } from '@weir/clients';
import { type CidrSet, explainListenError } from '@weir/ops';
import type { AddressInfo } from 'node:net';
import type { QueryCounters } from '../metrics/query-counters.js';
import type { LaneSockets } from './lane-sockets.js';
import { type Connect, StreamListener } from './stream-listener.js';

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
export interface BoundAddress extends AddressInfo {
  readonly tlsPort?: number;
  readonly httpsPort?: number;
}

export interface HostListenersOptions {
  readonly host: string;
  readonly ipv6Only: boolean;
  readonly connectors: Connectors;
  readonly counters: QueryCounters;
  readonly loadBalancers: CidrSet;
  readonly udp: LaneSockets;
  /** Shared with the listeners on other addresses. */
  readonly connections: ConnectionPool;
  /** Whether this client may begin a TLS handshake in this second. */
  readonly mayHandshake: (client: ClientAddress) => boolean;
  readonly nowMs: () => number;
  readonly onError: (error: Error) => void;
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
