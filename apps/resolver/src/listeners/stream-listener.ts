import {
  ClientAddress,
  type ClientConnections,
  type Connection,
  ProxyPreface,
} from '@weir/clients';
import type { CidrSet } from '@weir/ops';
import { TCPServer } from 'dns2';
import type { AddressInfo, Socket } from 'node:net';
import { Dropped, type QueryCounters } from '../metrics/query-counters.js';

const DEFAULT_IDLE_MS = 10_000;
const DEFAULT_MAX_CONNECTIONS = 1024;

export interface StreamListenerOptions {
  readonly host: string;
  /** Takes over a connection whose client is known and admitted. */
  readonly connect: (socket: Socket, client: ClientAddress) => Connection;
  readonly counters: QueryCounters;
  readonly nowMs: () => number;
  /** Load balancers, who must name their client in a PROXY header at the start of a connection. */
  readonly balancers: CidrSet;
  /** Shared with other listeners. */
  readonly connections: ClientConnections;
  /** Told of errors of the listening socket, such as too many open files, and of defects; it goes on. */
  readonly onFault: (error: Error) => void;
  /** A connection without a whole query or an answer for this long is closed, whatever trickles in (RFC 7766 §6.2.3). */
  readonly idleMs?: number;
  readonly maxConnections?: number;
}

/**
 * The TCP server of dns2 with its connection path replaced: dns2's own one buffers without a bound, closes slow clients by half
 * only, and parses into objects. What is spoken on a connection is for `connect` to say; here it is bounded.
 */
export class StreamListener extends TCPServer {
  private readonly open = new Map<Socket, Connection>();
  private readonly idleMs: number;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: StreamListenerOptions) {
    super();
    this.idleMs = options.idleMs ?? DEFAULT_IDLE_MS;
    this.maxConnections = options.maxConnections ?? DEFAULT_MAX_CONNECTIONS;
    this.on('drop', () => {
      options.counters.drop(Dropped.crowded);
    });
  }

  /** @throws the listen error (`EADDRINUSE` …). */
  start(port: number): Promise<AddressInfo> {
    this.timer ??= setInterval(() => {
      this.closeIdle();
    }, this.idleMs / 4);
    return new Promise((resolve, reject) => {
      this.once('error', reject);
      this.listen(port, this.options.host, () => {
        this.off('error', reject).on('error', this.options.onFault);
        resolve(this.address() as AddressInfo);
      });
    });
  }

  /** Accepts no more connections and reads no more queries; connections close when they are answered. */
  drain(): void {
    if (this.listening) this.close();
    for (const connection of this.open.values()) connection.drain();
  }

  /** Closes what is left. */
  stop(): void {
    this.drain();
    clearInterval(this.timer);
    for (const connection of this.open.values()) connection.destroy();
  }

  /** Called by the base class for each connection. */
  handle(socket: Socket): void {
    const client = new ClientAddress();
    if (!client.set(socket.remoteAddress ?? '', socket.remotePort ?? 0)) {
      return this.turnAway(socket, Dropped.unanswerable);
    }
    socket.setNoDelay(true);
    socket.once('close', () => this.open.delete(socket));
    if (!this.options.balancers.has(client)) return this.admit(socket, client);
    const preface = new ProxyPreface({
      socket,
      client,
      nowMs: this.options.nowMs(),
      onClient: () => {
        this.admit(socket, client);
      },
      onFault: () => {
        this.turnAway(socket, Dropped.unproxied);
      },
    });
    this.open.set(socket, preface);
  }

  private admit(socket: Socket, client: ClientAddress): void {
    try {
      this.take(socket, client);
    } catch (error) {
      // A defect costs one connection; the others go on.
      this.options.onFault(error as Error);
      this.turnAway(socket, Dropped.defect);
    }
  }

  private take(socket: Socket, client: ClientAddress): void {
    const { connections, connect } = this.options;
    const name = connections.enter(client);
    if (name === null) return this.turnAway(socket, Dropped.crowded);
    socket.once('close', () => {
      connections.leave(name);
    });
    this.open.set(socket, connect(socket, client));
  }

  private turnAway(socket: Socket, why: Dropped): void {
    this.options.counters.drop(why);
    socket.destroy();
  }

  /** When half of the connections are taken, each has less time to be idle (RFC 7766 §6.2.3). */
  private closeIdle(): void {
    const isPressed = this.open.size * 2 > this.maxConnections;
    const idleSinceMs = this.options.nowMs() - (isPressed ? this.idleMs / 4 : this.idleMs);
    for (const connection of this.open.values()) {
      if (connection.lastActiveMs <= idleSinceMs) connection.destroy();
    }
  }
}
