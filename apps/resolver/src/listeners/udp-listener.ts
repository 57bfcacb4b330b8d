import { readProxyHeader } from '@weir/clients';
import type { Query } from '@weir/dns-wire';
import type { CidrSet } from '@weir/ops';
import { UDPServer } from 'dns2';
import type { RemoteInfo, SocketOptions } from 'node:dgram';
import { type AddressInfo, isIPv6 } from 'node:net';
import { Dropped, type QueryCounters, Transport } from '../metrics/query-counters.js';
import { Exchange, type ReplyPath } from '../query/exchange.js';
import type { QueryHandler } from '../query/query-path.js';
import { SendSlots } from './send-slots.js';

const SLOTS = 1024;
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;

/**
 * Addresses are never names here. Answering in the same turn keeps the send in it too: the default puts it off, with a closure.
 */
const lookup = ((address: string, family: number, done: LookupDone) => {
  done(null, address, family);
}) as unknown as NonNullable<SocketOptions['lookup']>;
type LookupDone = (error: null, address: string, family: number) => void;

export interface UdpListenerOptions {
  /** Address to listen on, which tells the family. */
  readonly host: string;
  readonly handler: QueryHandler;
  readonly counters: QueryCounters;
  /** Load balancers, who must name their client in a PROXY header before each query. */
  readonly balancers: CidrSet;
  /** Told of errors of the socket; it goes on. */
  readonly onFault: (error: Error) => void;
}

/**
 * The UDP server of dns2 with its packet path replaced: `handle` gives the bytes to our own wire path, because dns2's parser makes
 * objects of every query, can be held up by chains of pointers and does not tell a dot in a label from a separator.
 */
export class UdpListener extends UDPServer implements ReplyPath {
  // Not `transport`, `limit` …: the names must not clash with those of dgram.Socket.
  readonly transport = Transport.udp;
  private readonly exchange = new Exchange();
  private readonly slots: SendSlots;
  private draining = false;
  private drained: (() => void) | null = null;

  constructor(private readonly options: UdpListenerOptions) {
    const socket: SocketOptions = {
      type: isIPv6(options.host) ? 'udp6' : 'udp4',
      recvBufferSize: RECEIVE_BUFFER_BYTES,
      lookup,
    };
    // dns2 hands `type` to dgram.Socket as it is, which takes all options there.
    super({ type: socket as unknown as 'udp4' });
    this.exchange.replyPath = this;
    this.slots = new SendSlots(SLOTS, (error) => {
      if (error !== null) options.counters.drop(Dropped.unsent);
      if (this.slots.busy === 0) this.drained?.();
    });
  }

  /** @throws the bind error (`EADDRINUSE` …). */
  start(port: number): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      this.once('error', reject);
      this.bind(port, this.options.host, () => {
        this.off('error', reject).on('error', this.options.onFault);
        resolve(this.address());
      });
    });
  }

  /** Takes no more queries; answers still go out. */
  drain(): void {
    this.draining = true;
  }

  /** Closes when the last answer is out. */
  async stop(): Promise<void> {
    this.drain();
    if (this.slots.busy > 0) {
      await new Promise<void>((resolve) => {
        this.drained = resolve;
      });
    }
    await new Promise<void>((resolve) => {
      this.close(resolve);
    });
  }

  override handle(data: Buffer, from: RemoteInfo): void {
    const { exchange } = this;
    if (this.draining) return this.drop(Dropped.draining);
    if (from.port === 0 || !exchange.client.set(from.address, from.port)) {
      return this.drop(Dropped.unanswerable);
    }
    exchange.bytes = data;
    exchange.length = data.length;
    exchange.peerAddress = from.address;
    exchange.peerPort = from.port;
    if (this.options.balancers.has(exchange.client) && !this.readClient(data)) {
      return this.drop(Dropped.unproxied);
    }
    this.options.handler.handle(exchange);
  }

  /** Takes the client from the PROXY header and the header from the query. @returns false when there is no sound one. */
  private readClient(data: Buffer): boolean {
    const { exchange } = this;
    const headerBytes = readProxyHeader(data, data.length, exchange.client);
    if (headerBytes <= 0) return false;
    // A query stands at the start of its bytes; moving it costs less than a view of it.
    data.copyWithin(0, headerBytes);
    exchange.length = data.length - headerBytes;
    return true;
  }

  limit(query: Query): number {
    return query.udpBytes;
  }

  reply(exchange: Exchange, answer: Uint8Array, length: number): void {
    const slot = this.slots.fill(answer, length);
    if (slot < 0) return this.drop(Dropped.backlog);
    const buffer = this.slots.bufferOf(slot);
    const { peerAddress, peerPort } = exchange;
    this.send(buffer, 0, length, peerPort, peerAddress, this.slots.callbackOf(slot));
  }

  drop(why: Dropped): void {
    this.options.counters.drop(why);
  }
}
