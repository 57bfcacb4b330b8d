import { explainListenError, type Logger } from '@weir/ops';
import {
  discard,
  kernelDropsOf,
  openListening,
  type SystemCalls,
  UdpSocket,
  type UdpSocketHandle,
} from '@weir/udp-batch';
import { type AddressInfo, isIPv4, isIPv6 } from 'node:net';
import type { DnsConfiguration } from '../configuration.js';
import type { QueryCounters } from '../metrics/query-counters.js';
import { DropReason } from '../query/exchange.js';

/** Size of the receive buffer that is asked for. */
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;
/** Longest wait of a lane in a system call. */
const WAIT_MS = 50;

interface HostOptions {
  readonly host: string;
  readonly ipv6Only: boolean;
  /** UDP lanes. */
  readonly lanes: number;
  readonly streamLanes: number;
  readonly calls: SystemCalls;
  readonly counters: QueryCounters;
}

/**
 * UDP on one address: a socket for each lane, on the same port. The kernel gives all packets from one address and
 * port to the same socket. The sockets belong to the process, so they outlive the thread of a lane.
 */
class UdpSockets {
  /** By lane. */
  sockets: readonly UdpSocket[] = [];

  constructor(private readonly options: HostOptions) {}

  /** @throws the bind error (`EADDRINUSE` …). */
  start(port: number): AddressInfo {
    const { host, lanes } = this.options;
    // Sockets that share a port would hide that another process has it too.
    const alone = this.open(port, false);
    if (lanes === 1) this.sockets = [alone];
    else {
      alone.close();
      const opened: UdpSocket[] = [];
      this.sockets = opened;
      while (opened.length < lanes) opened.push(this.open(alone.port, true));
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

/** Descriptors of TCP sockets that listen, of one stream lane on one address. Null: TLS or HTTPS is off. */
export interface StreamSockets {
  readonly tcp: number;
  readonly tls: number | null;
  readonly https: number | null;
}

/** The ports of one address. 0: any free port. Undefined: TLS or HTTPS is off. */
interface Ports {
  readonly port: number;
  readonly tlsPort?: number | undefined;
  readonly httpsPort?: number | undefined;
}

/** An address on which queries are answered, and its ports. */
type BoundAddress = AddressInfo & Ports;

/** The first of the addresses on which queries are answered, and the ports, which are the same for all. */
export interface BoundAddresses extends BoundAddress {
  readonly addresses: readonly string[];
}

/** All sockets of one address. */
class HostSockets {
  readonly udp: UdpSockets;
  /** By stream lane. */
  streams: readonly StreamSockets[] = [];
  private readonly listening: number[] = [];

  constructor(private readonly options: HostOptions) {
    this.udp = new UdpSockets(options);
  }

  /** Port 0: TCP takes a free port, and UDP the same one. @throws StartError when a port is taken */
  open({ port, tlsPort, httpsPort }: Ports): BoundAddress {
    const { tcp, bound } = this.openPlain(port);
    const tls = this.listenSecure('DNS_TLS_PORT', tlsPort);
    const https = this.listenSecure('DNS_HTTPS_PORT', httpsPort);
    this.streams = tcp.fds.map((fd, lane) => ({
      tcp: fd,
      tls: tls && tls.fds[lane],
      https: https && https.fds[lane],
    }));
    return { ...bound, ...(tls && { tlsPort: tls.port }), ...(https && { httpsPort: https.port }) };
  }

  /** Before lanes have taken the sockets. */
  closeAll(): void {
    this.udp.close();
    this.closeListening();
  }

  private openPlain(port: number): { tcp: Listening; bound: AddressInfo } {
    for (;;) {
      try {
        const tcp = this.listen(port);
        return { tcp, bound: this.udp.start(tcp.port) };
      } catch (error) {
        // The port that TCP was given may be taken for UDP. Then try another one.
        if (port !== 0 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE')
          throw this.explained(error, 'DNS_PORT', port);
        this.closeAll();
      }
    }
  }

  private listenSecure(variable: string, port: number | undefined): Listening | null {
    if (port === undefined) return null;
    try {
      return this.listen(port);
    } catch (error) {
      throw this.explained(error, variable, port);
    }
  }

  /** A socket for each stream lane, on the same port. @throws the error of a system call */
  private listen(wanted: number): Listening {
    const { host, ipv6Only, calls, streamLanes } = this.options;
    const open = (port: number, reusePort: boolean) => {
      const socket = openListening(calls, { host, port, ipv6Only, reusePort });
      this.listening.push(socket.fd);
      return socket;
    };
    // As for UDP.
    const { fd, port } = open(wanted, false);
    if (streamLanes === 1) return { fds: [fd], port };
    this.listening.pop();
    calls.close(fd);
    return { fds: Array.from({ length: streamLanes }, () => open(port, true).fd), port };
  }

  private explained(error: unknown, variable: string, port: number): unknown {
    return explainListenError(error, { host: this.options.host, port, variable });
  }

  private closeListening(): void {
    for (const fd of this.listening.splice(0)) this.options.calls.close(fd);
  }
}

interface Listening {
  readonly fds: readonly number[];
  readonly port: number;
}

export interface ListeningSocketsOptions extends Omit<HostOptions, 'host' | 'ipv6Only'> {
  readonly configuration: DnsConfiguration;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** All sockets of a resolver for its clients, on all addresses. Lanes receive and accept. */
export class ListeningSockets {
  private readonly hosts: readonly HostSockets[];

  constructor(private readonly options: ListeningSocketsOptions) {
    const { DNS_HOST: addresses } = options.configuration;
    const hasIpv4 = addresses.some((address) => isIPv4(address));
    this.hosts = addresses.map(
      (host) => new HostSockets({ ...options, host, ipv6Only: hasIpv4 && isIPv6(host) }),
    );
  }

  /** The UDP sockets of each lane, one for each address. */
  get ofLanes(): readonly (readonly UdpSocketHandle[])[] {
    return Array.from({ length: this.options.lanes }, (_, lane) =>
      this.hosts.map(({ udp }) => {
        const { fd, family, isWildcard } = udp.sockets[lane];
        return { fd, family, isWildcard };
      }),
    );
  }

  /** The sockets of each stream lane, for each address. A stream lane closes them. */
  get ofStreamLanes(): readonly (readonly StreamSockets[])[] {
    return Array.from({ length: this.options.streamLanes }, (_, lane) =>
      this.hosts.map(({ streams }) => streams[lane]),
    );
  }

  /**
   * Port 0: a free port of the first address; the other addresses take the same.
   * @throws StartError when a port is taken
   */
  open(): BoundAddresses {
    const { DNS_HOST, DNS_PORT, DNS_TLS_PORT, DNS_HTTPS_PORT } = this.options.configuration;
    const [first, ...others] = this.hosts;
    try {
      const ports = { port: DNS_PORT, tlsPort: DNS_TLS_PORT, httpsPort: DNS_HTTPS_PORT };
      const bound = first.open(ports);
      for (const host of others) host.open(bound);
      this.logReceiveBuffers();
      return { ...bound, addresses: DNS_HOST };
    } catch (error) {
      for (const host of this.hosts) host.closeAll();
      throw error;
    }
  }

  /** Number of UDP queries that the kernel dropped because a receive buffer was full. */
  kernelDrops(): number {
    return this.hosts.reduce((sum, { udp }) => sum + udp.kernelDrops, 0);
  }

  /** The lanes have stopped. */
  close(): void {
    for (const { udp } of this.hosts) udp.close();
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
}
