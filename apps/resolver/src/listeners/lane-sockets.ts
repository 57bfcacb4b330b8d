import { discard, type SystemCalls, UdpSocket } from '@weir/udp-batch';
import type { AddressInfo } from 'node:net';
import type { QueryCounters } from '../metrics/query-counters.js';
import { DropReason } from '../query/drop-reason.js';
import { inodeOf } from './kernel-drops.js';
import type { UdpHost } from './udp-host.js';
import { RECEIVE_BUFFER_BYTES } from './udp-listener.js';

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
export class LaneSockets implements UdpHost {
  /** By lane. */
  sockets: readonly UdpSocket[] = [];
  inodes: readonly string[] = [];
  readonly pastDrops = 0;

  constructor(private readonly options: LaneSocketsOptions) {}

  /** @throws the bind error (`EADDRINUSE` …). */
  start(port: number): Promise<AddressInfo> {
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
    this.inodes = this.sockets.map(({ fd }) => inodeOf(fd)).filter((one) => one !== undefined);
    const family = alone.family === 6 ? 'IPv6' : 'IPv4';
    return Promise.resolve({ address: host, port: alone.port, family });
  }

  get receiveBuffers(): Record<string, number> {
    const sizes = this.sockets.map(({ receiveBufferBytes }) => receiveBufferBytes);
    return { [this.options.host]: Math.min(...sizes) };
  }

  /** Lanes stop by themselves. */
  drain(): void {
    // Nothing is received here.
  }

  stop(): Promise<void> {
    this.abort();
    return Promise.resolve();
  }

  abort(): void {
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
