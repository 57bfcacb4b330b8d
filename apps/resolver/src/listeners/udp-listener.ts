import { readProxyHeader } from '@weir/clients';
import type { Query } from '@weir/dns-wire';
import type { CidrSet } from '@weir/ops';
import { MAX_DATAGRAM_BYTES } from '@weir/udp-batch';
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
}

/**
 * The UDP server of dns2 with another packet handler: `handle` passes the bytes to our own parser. The parser of dns2
 * creates objects for every query, can be stalled by chains of compression pointers, and does not distinguish a dot in
 * a label from a separator.
 *
 * It handles one packet at a time, in the thread of the event loop. Where there are lanes, they do its work.
 */
export class UdpListener extends UDPServer implements ReplyPath {
  // Names of this class must not clash with those of dgram.Socket.
  readonly transport = Transport.udp;
  private readonly exchange = new Exchange();
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
        this.inode = inodeOf(fileDescriptorOf(this));
        resolve(this.address());
      };
      this.bind(port, this.options.host, onBound);
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
    const { exchange } = this;
    if (this.isDraining) return this.drop(DropReason.draining);
    if (from.port === 0 || !exchange.client.set(from.address, from.port)) {
      return this.drop(DropReason.unanswerable);
    }
    if (data.length > MAX_DATAGRAM_BYTES) return this.drop(DropReason.malformed);
    exchange.peerAddress = from.address;
    exchange.peerPort = from.port;
    exchange.bytes = data;
    exchange.length = data.length;
    if (this.options.loadBalancers.has(exchange.client) && !this.readClient(data)) {
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

  reply({ peerPort, peerAddress }: Exchange, answer: Uint8Array, length: number): void {
    if (this.isClosed) return this.drop(DropReason.unsent);
    const { slots } = this.options;
    const slot = slots.fill(answer, length);
    if (slot < 0) return this.drop(DropReason.backlog);
    this.send(slots.bufferOf(slot), 0, length, peerPort, peerAddress, slots.callbackOf(slot));
  }

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
