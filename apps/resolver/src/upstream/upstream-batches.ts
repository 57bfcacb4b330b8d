import {
  BATCH,
  BatchReceiver,
  BatchSender,
  kernelDropsOf,
  MSG_DONTWAIT,
  ROUTE_WORDS,
  type SocketPoller,
  type SystemCalls,
  UdpSocket,
} from '@weir/udp-batch';
import type { Endpoint } from '@weir/ops';
import { isIPv6 } from 'node:net';
import type { BatchTurn } from '../clocks.js';
import { UpstreamCount } from '../metrics/forwarding-counts.js';

/** A socket that is connected to the upstream. */
export interface BatchedSocket {
  readonly fd: number;
  readonly isClosed: boolean;
  /** @param packet the first `length` bytes are it; valid until this returns */
  onPacket(packet: Uint8Array, length: number): void;
  /** The upstream cannot be reached. */
  onUnreachable(): void;
  /** Receives a batch of what has arrived. @returns the number of packets */
  receive(): number;
}

/** The UDP sockets of all upstreams, by their descriptors. */
export class OpenSockets {
  private readonly all = new Map<number, BatchedSocket>();

  /** @param poller has them, too. Null: the event loop waits for them */
  constructor(readonly poller: SocketPoller | null) {}

  /** @throws SystemError */
  add(socket: BatchedSocket): void {
    this.poller?.add(socket.fd);
    this.all.set(socket.fd, socket);
  }

  /** @returns false when it is not there */
  delete({ fd }: BatchedSocket): boolean {
    if (!this.all.delete(fd)) return false;
    this.poller?.remove(fd);
    return true;
  }

  /** Receives a batch from that socket. @returns the number of packets */
  receive(fd: number): number {
    return this.all.get(fd)?.receive() ?? 0;
  }
}

export interface UpstreamBatchesOptions {
  readonly calls: SystemCalls;
  readonly endpoint: Endpoint;
  /** Around a batch of answers. */
  readonly turn: BatchTurn;
  readonly openSockets: OpenSockets;
  /** By `UpstreamCount`. */
  readonly counts: Float64Array;
}

const NO_ROUTE = new Int32Array(ROUTE_WORDS);

/**
 * Sends the queries to one upstream in batches, and receives its answers in batches. The queries of a turn leave from
 * one socket, because a batch is one system call on one socket. One object serves all sockets of the upstream in turn.
 */
export class UpstreamBatches {
  private readonly handle: { fd: number; family: 4 | 6; isWildcard: false; isConnected: true };
  private readonly sender: BatchSender;
  private readonly receiver: BatchReceiver;
  /** Through which the queries that wait are sent. */
  private socket: BatchedSocket | null = null;
  private queued = 0;
  /** Whether the kernel has refused a query of the batch. */
  private isRefused = false;

  constructor(private readonly options: UpstreamBatchesOptions) {
    const { calls } = options;
    const family = isIPv6(options.endpoint.address) ? 6 : 4;
    this.handle = { fd: -1, family, isWildcard: false, isConnected: true };
    this.sender = new BatchSender(calls, this.handle, MSG_DONTWAIT);
    this.receiver = new BatchReceiver(calls, this.handle);
  }

  /** Opens a socket on a random port, connected to the upstream. @throws SystemError */
  open(receiveBufferBytes: number): UdpSocket {
    const { handle, receiver } = this;
    const { calls, endpoint: peer } = this.options;
    const host = handle.family === 6 ? '::' : '0.0.0.0';
    const socket = UdpSocket.open(calls, { host, port: 0, receiveBufferBytes, peer });
    handle.fd = socket.fd;
    // Others may have sent something before it was connected.
    while (receiver.receive(MSG_DONTWAIT) > 0);
    return socket;
  }

  /** The socket is connected. */
  join(socket: BatchedSocket): void {
    this.options.openSockets.add(socket);
  }

  /** Whether queries wait to be sent through the socket, and there is room for one more. */
  isFilling(socket: BatchedSocket): boolean {
    return this.socket === socket && this.queued < BATCH;
  }

  /** Sends a copy of the query when this turn ends, or earlier. */
  send(socket: BatchedSocket, packet: Uint8Array, length: number): void {
    if (!this.isFilling(socket)) this.flush();
    if (this.queued === 0) {
      this.socket = socket;
      if (this.options.openSockets.poller === null) setImmediate(this.flush);
    }
    this.queued++;
    this.sender.queue(NO_ROUTE, packet, length);
  }

  /** The socket is about to be closed. */
  leave(socket: BatchedSocket): void {
    if (this.socket === socket) this.flush();
    const { calls, counts, openSockets } = this.options;
    if (!openSockets.delete(socket)) return;
    counts[UpstreamCount.kernelDrops] += kernelDropsOf(calls, socket.fd);
  }

  /** Sends the queries that wait. */
  readonly flush = (): void => {
    const { socket, handle } = this;
    if (socket === null) return;
    this.socket = null;
    this.queued = 0;
    this.isRefused = false;
    handle.fd = socket.fd;
    this.options.counts[UpstreamCount.batches]++;
    this.sender.flush(this.onNotSent);
    if (this.isRefused) socket.onUnreachable();
  };

  /** Where there is no room in the send buffer, the query is lost, as it may be anywhere on its way. */
  private readonly onNotSent = (isBusy: boolean): void => {
    if (!isBusy) this.isRefused = true;
  };

  /** Receives a batch of what has arrived at the socket. @returns the number of packets */
  receive(socket: BatchedSocket): number {
    const { receiver, handle } = this;
    const { turn } = this.options;
    handle.fd = socket.fd;
    const count = receiver.receive(MSG_DONTWAIT);
    if (receiver.errno !== 0) socket.onUnreachable();
    if (count === 0) return 0;
    turn.enter();
    try {
      this.handleSlots(socket, count);
    } finally {
      turn.leave();
    }
    return count;
  }

  private handleSlots(socket: BatchedSocket, count: number): void {
    const { receiver } = this;
    for (let slot = 0; slot < count && !socket.isClosed; slot++) {
      const bytes = receiver.bytesOf(slot);
      socket.onPacket(bytes, Math.min(receiver.lengthOf(slot), bytes.length));
    }
  }
}
