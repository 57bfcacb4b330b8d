import type { ClientAddress, Connection } from '@weir/clients';
import { MAX_MESSAGE_BYTES } from '@weir/dns-wire';
import type { Socket } from 'node:net';
import type { QueryCounters } from '../metrics/query-counters.js';
import {
  DropReason,
  type Exchange,
  type ReplyPath,
  type QueryHandler,
  type Transport,
} from '../query/exchange.js';
import type { Input, InputTurns } from './input-turns.js';
import { TickWriter } from './tick-writer.js';
import type { UnreadBytes } from './unread-bytes.js';

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
  /** Shared with the connections of all listeners. */
  readonly turns: InputTurns;
  readonly nowMs: () => number;
  /** How long a connection may be idle now. */
  readonly idleMs: () => number;
}

/**
 * One connection: messages with a length prefix (RFC 1035 §4.2.2), pipelined, answered in any order (RFC 7766 §6.2.1).
 */
export class TcpConnection implements Connection, Input, ReplyPath {
  readonly transport: Transport;
  readonly client: ClientAddress;
  lastActiveMs: number;
  private unread: Buffer = EMPTY;
  private pending = 0;
  /** The client sends no more, or we read no more. */
  private isEnding = false;
  private isReading = false;
  /** Other connections come first; `handleNext` follows. */
  private isQueued = false;
  private readonly writer: TickWriter;

  constructor(private readonly options: TcpConnectionOptions) {
    const { socket, unread } = options;
    this.transport = options.transport;
    this.client = options.client;
    this.lastActiveMs = options.nowMs();
    unread.open(this);
    this.writer = new TickWriter(socket, () => unread.set(this, socket.writableLength));
    socket.once('close', () => unread.close(this));
    socket.on('data', (chunk: Buffer) => this.onData(chunk));
    socket.on('end', () => this.onEnd());
    // The client has reset the connection; 'close' follows.
    socket.on('error', () => socket.destroy());
  }

  get isWaiting(): boolean {
    return this.pending > 0;
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
    this.writer.reserve(LENGTH_BYTES + length);
    this.writer.uint16(length);
    this.writer.copy(answer, 0, length);
    this.processInput();
  }

  drop(reason: DropReason): void {
    this.pending--;
    if (reason !== DropReason.limited) return this.disconnect(reason);
    // Its other queries are answered.
    this.options.counters.drop(reason);
    this.processInput();
  }

  drain(): void {
    this.isEnding = true;
    this.unread = EMPTY;
    this.processInput();
  }

  destroy(): void {
    this.options.socket.destroy();
  }

  /** A client that sends something other than queries gets the answers before it, and no more. */
  private disconnect(reason: DropReason): void {
    this.options.counters.drop(reason);
    this.writer.flush();
    this.destroy();
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

  handleNext(): boolean {
    this.isReading = true;
    if (this.canHandle()) this.readMessage();
    this.isReading = false;
    this.isQueued = this.canHandle();
    this.settle();
    return this.isQueued;
  }

  /**
   * Handles complete messages until there are no more, too many are open, or others come first. Answers may call this
   * again while it runs.
   */
  private processInput(): void {
    if (this.isReading || this.isQueued) return;
    this.isReading = true;
    while (this.canHandle() && !this.isQueued) {
      if (this.options.turns.take(this)) this.readMessage();
      else this.isQueued = true;
    }
    this.isReading = false;
    this.settle();
  }

  /** Waits, reads on, or closes. */
  private settle(): void {
    const { socket } = this.options;
    if (this.isQueued || this.pending >= MAX_PIPELINED) socket.pause();
    else if (socket.isPaused()) socket.resume();
    const isOver = this.isEnding && this.pending === 0 && !this.isQueued;
    if (isOver && !socket.destroyed) this.writer.end();
  }

  /** Whether there is a complete message, or a wrong one, and not too many are open. */
  private canHandle(): boolean {
    const { unread } = this;
    if (this.pending >= MAX_PIPELINED || this.options.socket.destroyed) return false;
    if (unread.length < LENGTH_BYTES) return false;
    const length = unread.readUInt16BE(0);
    return !isValidLength(length) || unread.length >= LENGTH_BYTES + length;
  }

  private readMessage(): void {
    const { unread, options } = this;
    const length = unread.readUInt16BE(0);
    if (!isValidLength(length)) {
      this.unread = EMPTY;
      return this.disconnect(DropReason.malformed);
    }
    const end = LENGTH_BYTES + length;
    this.unread = unread.length === end ? EMPTY : unread.subarray(end);
    this.lastActiveMs = options.nowMs();
    this.handle(unread.subarray(LENGTH_BYTES, end));
  }

  private handle(message: Buffer): void {
    const { exchange, handler } = this.options;
    this.pending++;
    exchange.client.copyFrom(this.client);
    exchange.bytes = message;
    exchange.length = message.length;
    exchange.replyPath = this;
    handler.handle(exchange);
  }
}

function isValidLength(length: number): boolean {
  return length > 0 && length <= MAX_QUERY_BYTES;
}
