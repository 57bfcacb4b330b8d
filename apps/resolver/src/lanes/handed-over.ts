import type { Query } from '@weir/dns-wire';
import {
  BatchSender,
  MAX_DATAGRAM_BYTES,
  MSG_DONTWAIT,
  type SystemCalls,
  type UdpSocketHandle,
} from '@weir/udp-batch';
import type { QueryCounters } from '../metrics/query-counters.js';
import {
  DropReason,
  Exchange,
  type ReplyPath,
  type QueryHandler,
  Transport,
} from '../query/exchange.js';
import { HandoverKind, HandoverReader } from './handover-ring.js';

/** Queries of one lane that are handled in one turn of the event loop. */
const QUERIES_A_TURN = 64;

export interface HandedOverOptions {
  readonly calls: SystemCalls;
  readonly sockets: readonly UdpSocketHandle[];
  readonly ring: SharedArrayBuffer;
  readonly handler: QueryHandler & { refresh(exchange: Exchange): void };
  readonly counters: QueryCounters;
}

/** Takes what a lane hands over to the main thread. */
export class HandedOver {
  private readonly reader: HandoverReader;
  private readonly exchange = new Exchange();
  private readonly buffer = new Uint8Array(MAX_DATAGRAM_BYTES);
  private readonly replies: readonly SocketReplies[];

  constructor(private readonly options: HandedOverOptions) {
    this.reader = new HandoverReader(options.ring);
    this.replies = options.sockets.map((socket) => new SocketReplies(options, socket));
  }

  get isEmpty(): boolean {
    return this.reader.isEmpty;
  }

  /** Handles some of the queries. */
  takeSome(): void {
    const { reader, exchange, buffer, replies } = this;
    for (let left = QUERIES_A_TURN; left > 0 && reader.read(exchange, buffer); left--) {
      exchange.replyPath = replies[reader.socket];
      exchange.isAdmitted = reader.kind === HandoverKind.admitted;
      if (reader.kind === HandoverKind.refresh) this.options.handler.refresh(exchange);
      else this.options.handler.handle(exchange);
    }
  }

  /** No more answers are sent: the sockets are about to be closed. */
  close(): void {
    for (const socket of this.replies) socket.close();
  }
}

/**
 * The way back through a socket of a lane. The kernel takes datagrams from any thread. The answers of a turn of the
 * event loop leave together.
 */
class SocketReplies implements ReplyPath {
  readonly transport = Transport.udp;
  private isClosed = false;
  /** Whether answers wait until this turn ends. */
  private isFlushDue = false;
  private readonly sender: BatchSender;

  constructor(
    private readonly options: HandedOverOptions,
    socket: UdpSocketHandle,
  ) {
    this.sender = new BatchSender(options.calls, socket, MSG_DONTWAIT);
  }

  get space(): Uint8Array {
    return this.sender.next;
  }

  maxAnswerBytes(query: Query): number {
    return query.udpBytes;
  }

  keepaliveUnits(): number {
    return -1;
  }

  reply(exchange: Exchange, answer: Uint8Array, length: number): void {
    if (this.isClosed) return this.drop(DropReason.unsent);
    this.sender.queue(exchange.route, answer, length);
    if (!this.sender.hasRoom) this.sender.flush(this.onNotSent);
    if (this.isFlushDue) return;
    this.isFlushDue = true;
    setImmediate(this.flush);
  }

  drop(reason: DropReason): void {
    this.options.counters.drop(reason);
  }

  private readonly flush = (): void => {
    this.isFlushDue = false;
    this.sender.flush(this.onNotSent);
  };

  close(): void {
    this.flush();
    this.isClosed = true;
  }

  private readonly onNotSent = (isBusy: boolean): void => {
    this.drop(isBusy ? DropReason.backlog : DropReason.unsent);
  };
}
