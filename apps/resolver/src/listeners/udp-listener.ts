import { readProxyHeader } from '@weir/clients';
import { type Query, readUint32 } from '@weir/dns-wire';
import type { CidrSet } from '@weir/ops';
import {
  addressOfRoute,
  MAX_DATAGRAM_BYTES,
  portOfRoute,
  type SystemCalls,
  UdpBatchSocket,
} from '@weir/udp-batch';
import { UDPServer } from 'dns2';
import type { RemoteInfo, SocketOptions } from 'node:dgram';
import { type AddressInfo, isIPv6 } from 'node:net';
import type { QueryCounters } from '../metrics/query-counters.js';
import { DropReason } from '../query/drop-reason.js';
import { Exchange, type ReplyPath } from '../query/exchange.js';
import type { QueryHandler } from '../query/query-handler.js';
import { Transport } from '../query/transport.js';
import { inodeOf } from './kernel-drops.js';
import type { SendSlots } from './send-slots.js';

/** Size of the receive buffer that is asked for. */
export const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;
/** Linux reports twice the size that it granted, because it needs space for its own records (socket(7)). */
const REPORTED_SHARE = process.platform === 'linux' ? 2 : 1;

/**
 * Replaces the name lookup of dgram: all addresses here are numeric. The callback runs in the same turn; the default
 * defers the send and allocates a closure.
 */
const lookup = ((address: string, family: number, done: LookupDone) => {
  done(null, address, family);
}) as unknown as NonNullable<SocketOptions['lookup']>;
type LookupDone = (error: null, address: string, family: number) => void;

export interface UdpListenerOptions {
  /** Address to listen on. It determines the address family. */
  readonly host: string;
  /** Whether `::` leaves IPv4 to another listener. Default: it takes both. */
  readonly ipv6Only?: boolean;
  /** Whether other sockets of this process may have the same port, on other addresses. Default: none may. */
  readonly sharesPort?: boolean;
  readonly handler: QueryHandler;
  readonly counters: QueryCounters;
  /** Shared with the listeners on other addresses. */
  readonly slots: SendSlots;
  /** Load balancers. They must name their client in a PROXY header before each query. */
  readonly loadBalancers: CidrSet;
  /** Called with errors of the socket; it goes on. */
  readonly onError: (error: Error) => void;
  /** Null: one system call for each datagram. */
  readonly systemCalls: SystemCalls | null;
}

/**
 * The UDP server of dns2 with another packet handler: `handle` passes the bytes to our own parser. The parser of dns2
 * creates objects for every query, can be stalled by chains of compression pointers, and does not distinguish a dot in
 * a label from a separator.
 *
 * Where the system can, datagrams are received and sent in batches: dgram wakes this listener with the first datagram,
 * the others that have arrived come with one call, and their answers leave with one.
 */
export class UdpListener extends UDPServer implements ReplyPath {
  // Names of this class must not clash with those of dgram.Socket.
  readonly transport = Transport.udp;
  private readonly exchange = new Exchange();
  /** Null: one datagram at a time. */
  private batch: UdpBatchSocket | null = null;
  /** Whether answers wait in the batch until all queries of this turn are handled. */
  private isCollecting = false;
  private isDraining = false;
  private isClosed = false;
  /** Undefined until it is bound, and where there is no /proc. */
  inode: string | undefined;

  constructor(private readonly options: UdpListenerOptions) {
    const socket: SocketOptions = {
      type: isIPv6(options.host) ? 'udp6' : 'udp4',
      ipv6Only: options.ipv6Only ?? false,
      reuseAddr: options.sharesPort ?? false,
      recvBufferSize: RECEIVE_BUFFER_BYTES,
      lookup,
    };
    // dns2 passes `type` to dgram.Socket unchanged, which accepts all options there.
    super({ type: socket as unknown as 'udp4' });
    this.exchange.replyPath = this;
  }

  /** @throws the bind error (`EADDRINUSE` …). */
  start(port: number): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      this.once('error', reject);
      const onBound = (): void => {
        this.off('error', reject).on('error', this.options.onError);
        this.inode = inodeOf(this.batch?.fd ?? fileDescriptorOf(this));
        resolve(this.address());
      };
      // What it throws rejects the promise.
      this.batch = this.openBatch(port);
      if (this.batch === null) this.bind(port, this.options.host, onBound);
      else this.bind({ fd: this.batch.fd }, onBound);
    });
  }

  private openBatch(port: number): UdpBatchSocket | null {
    const { host, systemCalls, ipv6Only = false, sharesPort = false } = this.options;
    // A zone (`fe80::1%eth0`) is for dgram to resolve.
    if (systemCalls === null || host.includes('%')) return null;
    return UdpBatchSocket.open(systemCalls, {
      host,
      port,
      ipv6Only,
      reuseAddress: sharesPort,
    });
  }

  get host(): string {
    return this.options.host;
  }

  /** Size of the receive buffer that the kernel granted. */
  get receiveBufferBytes(): number {
    return this.getRecvBufferSize() / REPORTED_SHARE;
  }

  /** Accepts no more queries; answers still go out. */
  drain(): void {
    this.isDraining = true;
  }

  /** Closes when the last answer is out. */
  async stop(): Promise<void> {
    this.drain();
    await this.options.slots.idle();
    this.abort();
  }

  /** Closes at once. */
  abort(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.close();
  }

  override handle(data: Buffer, from: RemoteInfo): void {
    this.isCollecting = this.batch !== null;
    this.handleFirst(data, from);
    if (this.batch !== null) this.handleBatch(this.batch);
  }

  /** The datagram that dgram has read. */
  private handleFirst(data: Buffer, from: RemoteInfo): void {
    const { exchange, batch } = this;
    if (!exchange.client.set(from.address, from.port)) return this.drop(DropReason.unanswerable);
    if (batch === null) {
      exchange.peerAddress = from.address;
      exchange.peerPort = from.port;
    } else {
      const { family, words } = exchange.client;
      batch.writeRoute(exchange.route, family, words, from.port);
    }
    this.handleDatagram(data, data.length);
  }

  /** The datagrams that have arrived besides, as many as one call gives. The next turn has the rest. */
  private handleBatch(batch: UdpBatchSocket): void {
    const { exchange } = this;
    const count = batch.receive();
    for (let slot = 0; slot < count; slot++) {
      const offset = batch.senderOffsetOf(slot);
      const port = batch.senderPortOf(slot);
      if (batch.family === 6) exchange.client.setIpv6(batch.bytes, offset, port);
      else exchange.client.setIpv4(readUint32(batch.bytes, offset), port);
      batch.copyRoute(slot, exchange.route);
      this.handleDatagram(batch.receiveSlotBytes(slot), batch.lengthOf(slot));
    }
    this.isCollecting = false;
    batch.flush(this.onNotSent);
  }

  private handleDatagram(bytes: Uint8Array, length: number): void {
    const { exchange } = this;
    if (this.isDraining) return this.drop(DropReason.draining);
    if (exchange.client.port === 0) return this.drop(DropReason.unanswerable);
    if (length > MAX_DATAGRAM_BYTES) return this.drop(DropReason.malformed);
    exchange.bytes = bytes;
    exchange.length = length;
    if (this.options.loadBalancers.has(exchange.client) && !this.readClient(bytes)) {
      return this.drop(DropReason.unproxied);
    }
    this.options.handler.handle(exchange);
  }

  /** Reads the client from the PROXY header and removes the header. @returns false when there is no valid one */
  private readClient(bytes: Uint8Array): boolean {
    const { exchange } = this;
    const headerBytes = readProxyHeader(bytes, exchange.length, exchange.client);
    if (headerBytes <= 0) return false;
    // A query must be at the start of its bytes. Moving it costs less than creating a view.
    bytes.copyWithin(0, headerBytes, exchange.length);
    exchange.length -= headerBytes;
    return true;
  }

  maxAnswerBytes(query: Query): number {
    return query.udpBytes;
  }

  keepaliveUnits(): number {
    return -1;
  }

  reply(exchange: Exchange, answer: Uint8Array, length: number): void {
    if (this.isClosed) return this.drop(DropReason.unsent);
    const { batch } = this;
    if (batch === null) {
      return this.sendOne(answer, length, exchange.peerPort, exchange.peerAddress);
    }
    if (!batch.hasRoom) batch.flush(this.onNotSent);
    batch.queue(exchange.route, answer, length);
    if (!this.isCollecting) batch.flush(this.onNotSent);
  }

  private sendOne(answer: Uint8Array, length: number, port: number, address: string): void {
    const { slots } = this.options;
    const slot = slots.fill(answer, length);
    if (slot < 0) return this.drop(DropReason.backlog);
    this.send(slots.bufferOf(slot), 0, length, port, address, slots.callbackOf(slot));
  }

  /** Called for an answer that the kernel has not taken. When it has no room now, dgram sends it later. */
  private readonly onNotSent = (slot: number, isBusy: boolean): void => {
    const { batch } = this;
    if (batch === null || !isBusy) return this.drop(DropReason.unsent);
    const route = batch.sendSlotRoute(slot);
    const bytes = batch.sendSlotBytes(slot);
    const address = addressOfRoute(route, batch.family === 6);
    this.sendOne(bytes, bytes.length, portOfRoute(route), address);
  };

  drop(reason: DropReason): void {
    this.options.counters.drop(reason);
  }
}

/** Node has no public access to it. −1 when that changes: then kernel drops are not counted. */
function fileDescriptorOf(socket: object): number {
  const [symbol] = Object.getOwnPropertySymbols(socket).filter(
    ({ description }) => description === 'state symbol',
  );
  const state = (socket as Record<symbol, { handle?: { fd?: number } } | undefined>)[symbol];
  return state?.handle?.fd ?? -1;
}
