import { discard, kernelDropsOf, type SystemCalls, UdpSocket } from '@weir/udp-batch';
import type { AddressInfo } from 'node:net';
import type { QueryCounters } from '../metrics/query-counters.js';
import { DropReason } from '../query/exchange.js';

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
