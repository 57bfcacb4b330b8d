import {
  ClientAddress,
  type Connection,
  type ConnectionPool,
  ProxyHeaderReader,
} from '@weir/clients';
import type { CidrSet } from '@weir/ops';
import { TCPServer } from 'dns2';
import type { AddressInfo, ListenOptions, Socket } from 'node:net';
import type { QueryCounters } from '../metrics/query-counters.js';
import { DropReason } from '../query/exchange.js';

const DEFAULT_IDLE_MS = 10_000;

/**
 * Takes over a connection whose client is known and admitted.
 * @param idleMs how long a connection may be idle now
 */
export type Connect = (socket: Socket, client: ClientAddress, idleMs: () => number) => Connection;

export interface StreamListenerOptions {
  readonly connect: Connect;
  readonly counters: QueryCounters;
  readonly nowMs: () => number;
  /** Load balancers. They must name their client in a PROXY header at the start of a connection. */
  readonly loadBalancers: CidrSet;
  /** Shared with other listeners. */
  readonly connections: ConnectionPool;
  /** Whether this client may open a connection in this second. Default: always. */
  readonly isWithinRate?: (client: ClientAddress) => boolean;
  /**
   * Called with errors of the listening socket, such as too many open files, and with defects. The listener goes on.
   */
  readonly onError: (error: Error) => void;
  /**
   * A connection without a complete query or an answer for this long is closed, even if some bytes arrive (RFC 7766
   * §6.2.3).
   */
  readonly idleMs?: number;
}

/**
 * The TCP server of dns2 with another connection handler. The one of dns2 buffers without a limit, closes slow clients
 * only halfway, and parses into objects. `connect` decides which protocol is spoken on a connection; this class limits
 * connections and idle time.
 */
export class StreamListener extends TCPServer {
  private readonly open = new Map<Socket, Connection>();
  /** They were idle, and wait for their clients to close them too. */
  private readonly ended = new WeakSet<Connection>();
  private readonly idleMs: number;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: StreamListenerOptions) {
    super();
    this.idleMs = options.idleMs ?? DEFAULT_IDLE_MS;
  }

  /**
   * @param where an address, or the descriptor of a socket that listens
   * @throws the listen error (`EADDRINUSE` …)
   */
  start(where: ListenOptions | { readonly fd: number }): Promise<AddressInfo> {
    this.timer ??= setInterval(() => this.closeIdle(), this.idleMs / 4);
    return new Promise((resolve, reject) => {
      this.once('error', reject);
      this.listen(where, () => {
        this.off('error', reject).on('error', this.options.onError);
        resolve(this.address() as AddressInfo);
      });
    });
  }

  /** Accepts no more connections and reads no more queries. Connections close once they are answered. */
  drain(): void {
    if (this.listening) this.close();
    for (const connection of this.open.values()) connection.drain();
  }

  stop(): void {
    this.drain();
    clearInterval(this.timer);
    for (const connection of this.open.values()) connection.destroy();
  }

  /** Called by the base class for each connection. */
  handle(socket: Socket): void {
    const client = new ClientAddress();
    if (!client.set(socket.remoteAddress ?? '', socket.remotePort ?? 0)) {
      return this.reject(socket, DropReason.unanswerable);
    }
    socket.setNoDelay(true);
    socket.once('close', () => this.open.delete(socket));
    if (!this.options.loadBalancers.has(client)) return this.admit(socket, client);
    const named = this.options.connections.acquireUnnamed();
    if (named === null) return this.reject(socket, DropReason.crowded);
    socket.once('close', named);
    const headerReader = new ProxyHeaderReader({
      socket,
      client,
      nowMs: this.options.nowMs(),
      onClient: () => {
        named();
        this.admit(socket, client);
      },
      onError: () => this.reject(socket, DropReason.unproxied),
    });
    this.open.set(socket, headerReader);
  }

  private admit(socket: Socket, client: ClientAddress): void {
    try {
      this.take(socket, client);
    } catch (error) {
      // A defect closes one connection; the others go on.
      this.options.onError(error as Error);
      this.reject(socket, DropReason.defect);
    }
  }

  private take(socket: Socket, client: ClientAddress): void {
    const { connections, connect, isWithinRate } = this.options;
    if (isWithinRate?.(client) === false) return this.reject(socket, DropReason.limited);
    const acquired = connections.acquire(client, () => socket.destroy());
    if (acquired === null) return this.reject(socket, DropReason.crowded);
    socket.once('close', () => connections.release(acquired));
    this.open.set(socket, connect(socket, client, this.currentIdleMs));
  }

  private reject(socket: Socket, reason: DropReason): void {
    this.options.counters.drop(reason);
    socket.destroy();
  }

  /** When half of the connections are in use, the idle time is shorter (RFC 7766 §6.2.3). */
  private readonly currentIdleMs = (): number =>
    this.options.connections.isHalfFull ? this.idleMs / 4 : this.idleMs;

  /** Clients are told (RFC 8446 §6.1, RFC 9113 §9.1). One that leaves its side open loses it at the next check. */
  private closeIdle(): void {
    const nowMs = this.options.nowMs();
    const currentIdleMs = this.currentIdleMs();
    for (const connection of this.open.values()) {
      if (this.ended.has(connection)) {
        connection.destroy();
        continue;
      }
      // An answer may take longer than the shorter time.
      const idleMs = connection.isWaiting ? this.idleMs : currentIdleMs;
      if (connection.lastActiveMs > nowMs - idleMs) continue;
      connection.drain();
      this.ended.add(connection);
    }
  }
}
