import type { ClientAddress, Connection } from '@weir/clients';
import type { TLSSocket } from 'node:tls';
import type { QueryCounters } from '../../metrics/query-counters.js';
import { DropReason } from '../../query/exchange.js';
import type { TcpConnectionOptions } from '../tcp-connection.js';
import type { DohConnection, DohReply } from './doh.js';
import { Http1Connection, type Http1Server } from './http1-connection.js';
import { Http2Connection } from './http2/http2-connection.js';

/**
 * Requests of a connection that its client resets (CVE-2023-44487) or that are refused: this many at once, and this
 * many more in each second. Then the connection is closed.
 */
const MAX_GLITCHES = 100;
const GLITCHES_PER_MS = 0.01;

export interface HttpsConnectionOptions extends Omit<
  TcpConnectionOptions,
  'idleMs' | 'socket' | 'transport'
> {
  readonly socket: TLSSocket;
  readonly http1: Http1Server;
}

/** One connection of DNS over HTTPS (RFC 8484): HTTP/2, or HTTP/1.1 for clients without HTTP/2. */
export class HttpsConnection implements Connection, DohConnection {
  readonly socket: TLSSocket;
  readonly client: ClientAddress;
  readonly counters: QueryCounters;
  /** Time of the last complete query or answer. */
  lastActiveMs: number;
  /** Null during the handshake. */
  private protocol: Http1Connection | Http2Connection | null = null;
  private isEnding = false;
  /** Queries that are not answered. */
  private open = 0;
  private glitches = 0;
  private glitchedMs = 0;

  constructor(private readonly options: HttpsConnectionOptions) {
    const { socket, unread, nowMs } = options;
    this.socket = socket;
    this.client = options.client;
    this.counters = options.counters;
    this.lastActiveMs = nowMs();
    unread.open(this);
    socket.once('close', () => {
      this.protocol?.close();
      unread.close(this);
    });
    // The client has reset the connection; 'close' follows.
    socket.on('error', () => socket.destroy());
    socket.once('secure', () => this.onSecure());
    // A client that ends before the handshake is over has gone. Nobody else reads until then, so nothing is lost.
    socket.once('end', () => {
      if (this.protocol === null) socket.destroy();
    });
    socket.resume();
  }

  drain(): void {
    this.isEnding = true;
    if (this.protocol === null) this.socket.end();
    else this.protocol.drain();
  }

  destroy(): void {
    this.socket.destroy();
  }

  get isWaiting(): boolean {
    return this.open > 0;
  }

  handle(query: Buffer, reply: DohReply): void {
    const { exchange, client, handler, nowMs } = this.options;
    this.open++;
    reply.onSettled = this.onSettled;
    this.lastActiveMs = nowMs();
    exchange.client.copyFrom(client);
    exchange.bytes = query;
    exchange.length = query.length;
    exchange.replyPath = reply;
    handler.handle(exchange);
  }

  private readonly onSettled = (): void => {
    this.open--;
  };

  onAnswer(status: number): void {
    this.lastActiveMs = this.options.nowMs();
    if (status >= 400 && status < 500 && status !== 429) this.onGlitch();
  }

  onGlitch(): void {
    const nowMs = this.options.nowMs();
    this.glitches = Math.max(0, this.glitches - GLITCHES_PER_MS * (nowMs - this.glitchedMs)) + 1;
    this.glitchedMs = nowMs;
    if (this.glitches <= MAX_GLITCHES || this.socket.destroyed) return;
    this.counters.drop(DropReason.limited);
    this.protocol?.calm();
  }

  hold(bytes: number): void {
    this.options.unread.set(this, bytes);
  }

  private onSecure(): void {
    const { socket, http1, turns } = this.options;
    const isHttp2 = socket.alpnProtocol === 'h2';
    this.protocol = isHttp2 ? new Http2Connection(this, turns) : new Http1Connection(this, http1);
    if (this.isEnding) this.protocol.drain();
  }
}
