import { readProxyHeader } from '@weir/clients';
import { type Query, readUint32 } from '@weir/dns-wire';
import type { CidrSet } from '@weir/ops';
import {
  BatchReceiver,
  BatchSender,
  MAX_DATAGRAM_BYTES,
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
import { LaneCount, type LaneCounts } from './lane-counts.js';

export interface LaneSocketOptions {
  readonly calls: SystemCalls;
  readonly socket: UdpSocketHandle;
  readonly handler: QueryHandler;
  readonly counters: QueryCounters;
  readonly counts: LaneCounts;
  /** Load balancers. They must name their client in a PROXY header before each query. */
  readonly loadBalancers: Pick<CidrSet, 'has'>;
}

/** Receives the queries of one socket in batches, and sends their answers in batches. Allocates nothing. */
export class LaneSocket implements ReplyPath {
  readonly transport = Transport.udp;
  /** Whether queries get no answer any more. */
  isDraining = false;
  private readonly exchange = new Exchange();
  private readonly receiver: BatchReceiver;
  private readonly sender: BatchSender;
  private readonly isIpv6: boolean;
  private answers = 0;

  constructor(private readonly options: LaneSocketOptions) {
    const { calls, socket } = options;
    this.receiver = new BatchReceiver(calls, socket);
    // It may wait: then the kernel drops what has no room in the receive buffer, and counts it.
    this.sender = new BatchSender(calls, socket, 0);
    this.isIpv6 = socket.family === 6;
    this.exchange.replyPath = this;
  }

  /** See `BatchReceiver.receive`. */
  receive(flags: number): number {
    return this.receiver.receive(flags);
  }

  /** See `BatchReceiver.errno`. */
  get errno(): number {
    return this.receiver.errno;
  }

  /** Handles the queries of that many slots. No system call. */
  handle(count: number): void {
    this.options.counts.batches.observe(count);
    for (let slot = 0; slot < count; slot++) this.handleSlot(slot);
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
    this.answers++;
    this.sender.queue(exchange.route, answer, length);
    if (!this.sender.hasRoom) this.flush();
  }

  drop(reason: DropReason): void {
    this.options.counters.drop(reason);
  }

  /** Sends the answers that wait. */
  flush(): void {
    this.options.counts.count(LaneCount.answers, this.answers);
    this.answers = 0;
    this.sender.flush(this.onNotSent);
  }

  private readonly onNotSent = (isBusy: boolean): void => {
    this.drop(isBusy ? DropReason.backlog : DropReason.unsent);
  };

  private handleSlot(slot: number): void {
    const { exchange, receiver } = this;
    if (this.isDraining) return this.drop(DropReason.draining);
    const port = receiver.senderPortOf(slot);
    if (port === 0) return this.drop(DropReason.unanswerable);
    const length = receiver.lengthOf(slot);
    if (length > MAX_DATAGRAM_BYTES) return this.drop(DropReason.malformed);
    const sender = receiver.senderOffsetOf(slot);
    if (this.isIpv6) exchange.client.setIpv6(receiver.bytes, sender, port);
    else exchange.client.setIpv4(readUint32(receiver.bytes, sender), port);
    receiver.copyRoute(slot, exchange.route);
    exchange.bytes = receiver.bytesOf(slot);
    exchange.length = length;
    if (this.options.loadBalancers.has(exchange.client) && !this.readClient()) {
      return this.drop(DropReason.unproxied);
    }
    this.options.handler.handle(exchange);
  }

  /** Reads the client from the PROXY header and removes the header. @returns false when there is no valid one */
  private readClient(): boolean {
    const { exchange } = this;
    const headerBytes = readProxyHeader(exchange.bytes, exchange.length, exchange.client);
    if (headerBytes <= 0) return false;
    // A query must be at the start of its bytes. Moving it costs less than creating a view.
    exchange.bytes.copyWithin(0, headerBytes, exchange.length);
    exchange.length -= headerBytes;
    return true;
  }
}
