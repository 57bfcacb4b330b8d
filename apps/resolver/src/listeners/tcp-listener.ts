import { TCPServer } from 'dns2';
import type { AddressInfo, Socket } from 'node:net';
import { Dropped, type QueryCounters } from '../metrics/query-counters.js';
import { Exchange } from '../query/exchange.js';
import type { QueryHandler } from '../query/query-path.js';
import { TcpConnection } from './tcp-connection.js';

const DEFAULT_IDLE_MS = 10_000;
const DEFAULT_MAX_CONNECTIONS = 1024;
const DEFAULT_MAX_PER_CLIENT = 128;

export interface TcpListenerOptions {
  readonly host: string;
  readonly handler: QueryHandler;
  readonly counters: QueryCounters;
  readonly nowMs: () => number;
  /** Told of errors of the listening socket, such as too many open files; it goes on. */
  readonly onFault: (error: Error) => void;
  /** A connection without a whole query or an answer for this long is closed, whatever trickles in (RFC 7766 §6.2.3). */
  readonly idleMs?: number;
  readonly maxConnections?: number;
  /** Connections of one address; many subscribers may share it. */
  readonly maxPerClient?: number;
}

/**
 * The TCP server of dns2 with its connection path replaced: dns2's own one buffers without a bound, closes slow clients by half
 * only, and parses into objects.
 */
export class TcpListener extends TCPServer {
  private readonly open = new Set<TcpConnection>();
  private readonly exchange = new Exchange();
  /** Open connections of each address that has any. */
  private readonly perClient = new Map<string, number>();
  private readonly idleMs: number;
  private readonly maxPerClient: number;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: TcpListenerOptions) {
    super();
    this.idleMs = options.idleMs ?? DEFAULT_IDLE_MS;
    this.maxPerClient = options.maxPerClient ?? DEFAULT_MAX_PER_CLIENT;
    this.maxConnections = options.maxConnections ?? DEFAULT_MAX_CONNECTIONS;
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
    for (const connection of this.open) connection.drain();
  }

  /** Closes what is left. */
  stop(): void {
    this.drain();
    clearInterval(this.timer);
    for (const connection of this.open) connection.destroy();
  }

  /** Called by the base class for each connection. */
  handle(socket: Socket): void {
    const { handler, counters, nowMs } = this.options;
    const { exchange, open } = this;
    const client = socket.remoteAddress ?? '';
    const others = this.perClient.get(client) ?? 0;
    if (others >= this.maxPerClient) {
      counters.drop(Dropped.crowded);
      socket.destroy();
      return;
    }
    this.perClient.set(client, others + 1);
    const connection = new TcpConnection({ socket, handler, counters, exchange, nowMs });
    open.add(connection);
    socket.once('close', () => {
      open.delete(connection);
      this.forget(client);
    });
  }

  private forget(client: string): void {
    const left = (this.perClient.get(client) ?? 1) - 1;
    if (left === 0) this.perClient.delete(client);
    else this.perClient.set(client, left);
  }

  private closeIdle(): void {
    const idleSinceMs = this.options.nowMs() - this.idleMs;
    for (const connection of this.open) {
      if (connection.lastActiveMs <= idleSinceMs) connection.destroy();
    }
  }
}
