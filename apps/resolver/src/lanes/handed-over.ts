import {
  BatchSender,
  MAX_DATAGRAM_BYTES,
  MSG_DONTWAIT,
  type SystemCalls,
  type UdpSocketHandle,
} from '@weir/udp-batch';
import type { BatchTurn } from '../clocks.js';
import type { QueryCounters } from '../metrics/query-counters.js';
import { DropReason, Exchange, type QueryHandler } from '../query/exchange.js';
import { HandoverReader } from './handover.js';
import { UdpReplyPath } from './lane-socket.js';

/** Queries of one lane that are handled in one turn of the event loop. */
const QUERIES_A_TURN = 64;

export interface HandedOverOptions {
  readonly calls: SystemCalls;
  readonly sockets: readonly UdpSocketHandle[];
  readonly ring: SharedArrayBuffer;
  readonly handler: QueryHandler & { refresh(exchange: Exchange): void };
  readonly counters: QueryCounters;
  /** Around those that are handled together. */
  readonly turn: BatchTurn;
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

  /** Handles some of the queries. @returns how many */
  takeSome(): number {
    if (this.reader.isEmpty) return 0;
    const { turn } = this.options;
    turn.enter();
    try {
      return this.take();
    } finally {
      turn.leave();
    }
  }

  private take(): number {
    const { reader, exchange, buffer, replies } = this;
    let taken = 0;
    for (; taken < QUERIES_A_TURN && reader.read(exchange, buffer); taken++) {
      exchange.replyPath = replies[reader.socket];
      if (reader.isRefresh) this.options.handler.refresh(exchange);
      else this.options.handler.handle(exchange);
    }
    return taken;
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
class SocketReplies extends UdpReplyPath {
  private isClosed = false;
  /** Whether answers wait until this turn ends. */
  private isFlushDue = false;

  constructor({ calls, counters }: HandedOverOptions, socket: UdpSocketHandle) {
    super(new BatchSender(calls, socket, MSG_DONTWAIT), counters);
  }

  reply(exchange: Exchange, answer: Uint8Array, length: number): void {
    if (this.isClosed) return this.drop(DropReason.unsent);
    this.sender.queue(exchange.route, answer, length);
    if (!this.sender.hasRoom) this.flush();
    if (this.isFlushDue) return;
    this.isFlushDue = true;
    setImmediate(this.endTurn);
  }

  private readonly endTurn = (): void => {
    this.isFlushDue = false;
    this.flush();
  };

  close(): void {
    this.endTurn();
    this.isClosed = true;
  }
}
