import type { ClientAddress, Connection } from '@weir/clients';
import { MAX_MESSAGE_BYTES } from '@weir/dns-wire';
import type { Socket } from 'node:net';
import type { QueryCounters } from '../metrics/query-counters.js';
import { DropReason } from '../query/drop-reason.js';
import type { Exchange, ReplyPath } from '../query/exchange.js';
import type { QueryHandler } from '../query/query-handler.js';
import type { Transport } from '../query/transport.js';
import type { UnreadAccount, UnreadBytes } from './unread-bytes.js';

/** Largest accepted query. A real one is far smaller. */
const MAX_QUERY_BYTES = 4096;
/** Open queries of one connection. Reading pauses at this number. */
const MAX_PIPELINED = 64;
/** RFC 7828 §3.1. */
const KEEPALIVE_UNIT_MS = 100;
const LENGTH_BYTES = 2;
const EMPTY = Buffer.alloc(0);

export interface TcpConnectionOptions {
  readonly socket: Socket;
  readonly transport: Transport;
  readonly client: ClientAddress;
  readonly handler: QueryHandler;
  readonly counters: QueryCounters;
  /** Shared by the connections of a listener: a query is handled or copied before the next one is read. */
  readonly exchange: Exchange;
  /** Shared with the connections of all listeners. */
  readonly unread: UnreadBytes;
  readonly nowMs: () => number;
  /** How long a connection may be idle now. */
  readonly idleMs: () => number;
}

/**
 * One connection: messages with a length prefix (RFC 1035 §4.2.2), pipelined, answered in any order (RFC 7766 §6.2.1).
 */
export class TcpConnection implements Connection, ReplyPath {
  readonly transport: Transport;
  lastActiveMs: number;
  private unread: Buffer = EMPTY;
  private pending = 0;
  /** The client sends no more, or we read no more. */
  private isEnding = false;
  private isReading = false;
  private readonly account: UnreadAccount;

  constructor(private readonly options: TcpConnectionOptions) {
    const { socket } = options;
    this.transport = options.transport;
    this.lastActiveMs = options.nowMs();
    this.account = options.unread.open(this);
    socket.once('close', () => {
      this.account.close();
    });
    socket.on('data', (chunk: Buffer) => {
      this.onData(chunk);
    });
    socket.on('end', () => {
      this.onEnd();
    });
    // The client has reset the connection; 'close' follows.
    socket.on('error', () => socket.destroy());
  }

  maxAnswerBytes(): number {
    return MAX_MESSAGE_BYTES;
  }

  keepaliveUnits(): number {
    return Math.floor(this.options.idleMs() / KEEPALIVE_UNIT_MS);
  }

  reply(_exchange: Exchange, answer: Uint8Array, length: number): void {
    const { socket, nowMs } = this.options;
    this.pending--;
    this.lastActiveMs = nowMs();
    if (socket.destroyed) return;
    const frame = Buffer.allocUnsafe(LENGTH_BYTES + length);
    frame.writeUInt16BE(length, 0);
    frame.set(answer.subarray(0, length), LENGTH_BYTES);
    socket.write(frame, this.onWritten);
    this.onWritten();
    this.processInput();
  }

  private readonly onWritten = (): void => {
    this.account.set(this.options.socket.writableLength);
  };

  /** A client that sends something other than queries is disconnected. */
  drop(reason: DropReason): void {
    this.options.counters.drop(reason);
    this.pending--;
    this.destroy();
  }

  drain(): void {
    this.isEnding = true;
    this.unread = EMPTY;
    this.processInput();
  }

  destroy(): void {
    this.options.socket.destroy();
  }

  private onData(chunk: Buffer): void {
    if (this.isEnding) return;
    this.unread = this.unread.length === 0 ? chunk : Buffer.concat([this.unread, chunk]);
    this.processInput();
  }

  private onEnd(): void {
    this.isEnding = true;
    this.processInput();
  }

  /**
   * Handles complete messages until there are no more or too many are open. Then waits, reads on, or closes. Answers
   * may call this again while it runs.
   */
  private processInput(): void {
    if (this.isReading) return;
    this.isReading = true;
    while (this.pending < MAX_PIPELINED && this.readMessage());
    this.isReading = false;
    const { socket } = this.options;
    if (this.pending >= MAX_PIPELINED) socket.pause();
    else if (socket.isPaused()) socket.resume();
    if (this.isEnding && this.pending === 0 && !socket.destroyed) socket.end();
  }

  /** @returns false when there is no complete message */
  private readMessage(): boolean {
    const { unread, options } = this;
    if (unread.length < LENGTH_BYTES || options.socket.destroyed) return false;
    const length = unread.readUInt16BE(0);
    if (length === 0 || length > MAX_QUERY_BYTES) {
      options.counters.drop(DropReason.malformed);
      this.unread = EMPTY;
      this.destroy();
      return false;
    }
    const end = LENGTH_BYTES + length;
    if (unread.length < end) return false;
    this.unread = unread.length === end ? EMPTY : unread.subarray(end);
    this.lastActiveMs = options.nowMs();
    this.handle(unread.subarray(LENGTH_BYTES, end));
    return true;
  }

  private handle(message: Buffer): void {
    const { exchange, handler, client } = this.options;
    this.pending++;
    exchange.client.copyFrom(client);
    exchange.bytes = message;
    exchange.length = message.length;
    exchange.replyPath = this;
    handler.handle(exchange);
  }
}
