import {
  BATCH,
  BatchReceiver,
  BatchSender,
  kernelDropsOf,
  MSG_DONTWAIT,
  ROUTE_WORDS,
  routeTo,
  type SystemCalls,
  UdpSocket,
} from '@weir/udp-batch';
import type { Endpoint } from '@weir/ops';
import { isIPv6 } from 'node:net';
import type { BatchTurn } from '../clocks.js';

/** A socket that is connected to the upstream. */
export interface BatchedSocket {
  readonly fd: number;
  readonly isClosed: boolean;
  /** @param packet the first `length` bytes are it; valid until this returns */
  onPacket(packet: Uint8Array, length: number): void;
  /** The upstream cannot be reached. */
  onUnreachable(): void;
}

const NO_ROUTE = new Int32Array(ROUTE_WORDS);

/**
 * Sends the queries to one upstream in batches, and receives its answers in batches. The queries of a turn of the event
 * loop leave from one socket, because a batch is one system call on one socket. One object serves all sockets of the
 * upstream in turn.
 */
export class UpstreamBatches {
  private readonly handle: { fd: number; family: 4 | 6; isWildcard: false; isConnected: true };
  private readonly sender: BatchSender;
  private readonly receiver: BatchReceiver;
  private readonly peer: Int32Array;
  private readonly from = new Int32Array(ROUTE_WORDS);
  /** System calls that have sent queries. */
  sent = 0;
  private readonly sockets = new Set<BatchedSocket>();
  /** Of sockets that were closed. */
  private earlierDrops = 0;
  /** Through which the queries that wait are sent. */
  private socket: BatchedSocket | null = null;
  private queued = 0;
  /** Whether the kernel has refused a query of the batch. */
  private isRefused = false;

  constructor(
    private readonly calls: SystemCalls,
    { address, port }: Endpoint,
    private readonly turn: BatchTurn,
  ) {
    const family = isIPv6(address) ? 6 : 4;
    this.handle = { fd: -1, family, isWildcard: false, isConnected: true };
    this.sender = new BatchSender(calls, this.handle, MSG_DONTWAIT);
    this.receiver = new BatchReceiver(calls, this.handle);
    this.peer = routeTo(address, port);
  }

  /** Opens a socket on a random port, still to be connected. @throws SystemError */
  open(receiveBufferBytes: number): UdpSocket {
    const host = this.handle.family === 6 ? '::' : '0.0.0.0';
    return UdpSocket.open(this.calls, { host, port: 0, receiveBufferBytes, isConnected: true });
  }

  /** The socket is connected. */
  join(socket: BatchedSocket): void {
    this.sockets.add(socket);
  }

  /** Answers that the kernel has dropped because the receive buffer of their socket was full. */
  get kernelDrops(): number {
    let drops = this.earlierDrops;
    for (const { fd } of this.sockets) drops += kernelDropsOf(this.calls, fd);
    return drops;
  }

  /** Whether queries wait to be sent through the socket, and there is room for one more. */
  isFilling(socket: BatchedSocket): boolean {
    return this.socket === socket && this.queued < BATCH;
  }

  /** Sends a copy of the query when this turn of the event loop ends, or earlier. */
  send(socket: BatchedSocket, packet: Uint8Array, length: number): void {
    if (!this.isFilling(socket)) this.flush();
    if (this.queued === 0) {
      this.socket = socket;
      setImmediate(this.flush);
    }
    this.queued++;
    this.sender.queue(NO_ROUTE, packet, length);
  }

  /** The socket is about to be closed. */
  leave(socket: BatchedSocket): void {
    if (this.socket === socket) this.flush();
    if (this.sockets.delete(socket)) this.earlierDrops += kernelDropsOf(this.calls, socket.fd);
  }

  /** Sends the queries that wait. */
  readonly flush = (): void => {
    const { socket, handle } = this;
    if (socket === null) return;
    this.socket = null;
    this.queued = 0;
    this.isRefused = false;
    handle.fd = socket.fd;
    this.sent++;
    this.sender.flush(this.onNotSent);
    if (this.isRefused) socket.onUnreachable();
  };

  /** Where there is no room in the send buffer, the query is lost, as it may be anywhere on its way. */
  private readonly onNotSent = (isBusy: boolean): void => {
    if (!isBusy) this.isRefused = true;
  };

  /** Receives a batch of what has arrived at the socket. */
  receive(socket: BatchedSocket): void {
    const { receiver, handle } = this;
    handle.fd = socket.fd;
    const count = receiver.receive(MSG_DONTWAIT);
    if (receiver.errno !== 0) socket.onUnreachable();
    if (count === 0) return;
    this.turn.enter();
    try {
      this.handleSlots(socket, count);
    } finally {
      this.turn.leave();
    }
  }

  private handleSlots(socket: BatchedSocket, count: number): void {
    const { receiver } = this;
    for (let slot = 0; slot < count && !socket.isClosed; slot++) {
      if (!this.isFromPeer(slot)) continue;
      const bytes = receiver.bytesOf(slot);
      socket.onPacket(bytes, Math.min(receiver.lengthOf(slot), bytes.length));
    }
  }

  private isFromPeer(slot: number): boolean {
    const { from, peer } = this;
    this.receiver.copyRoute(slot, from);
    for (let i = 0; i < ROUTE_WORDS; i++) if (from[i] !== peer[i]) return false;
    return true;
  }
}
