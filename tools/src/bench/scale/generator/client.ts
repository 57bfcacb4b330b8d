import {
  BATCH,
  BatchReceiver,
  BatchSender,
  MSG_DONTWAIT,
  routeTo,
  type SystemCalls,
  UdpSocket,
} from '@weir/udp-batch';
import { BLOCK_ADDRESS } from '../../dns/jobs.js';
import { RECORD_HEADER_BYTES } from '../queries.js';

/** Reads the datagrams of a query file in order, again from the first one after the last. */
export class QueryReader {
  readonly count: number;
  /** The last datagram that was read, and its length. */
  readonly datagram = new Uint8Array(1_024);
  length = 0;
  /** Where its message id is. */
  idOffset = 0;
  private at = 0;

  constructor(private readonly bytes: Buffer) {
    let count = 0;
    for (let at = 0; at < bytes.length; count++) at += RECORD_HEADER_BYTES + bytes.readUInt16LE(at);
    if (count === 0) throw new RangeError('a query file without queries');
    this.count = count;
  }

  /** Reads the next datagram to `datagram`. */
  next(): void {
    const { bytes, datagram } = this;
    if (this.at >= bytes.length) this.at = 0;
    const length = bytes.readUInt16LE(this.at);
    this.idOffset = bytes.readUInt16LE(this.at + 2);
    const start = this.at + RECORD_HEADER_BYTES;
    for (let i = 0; i < length; i++) datagram[i] = bytes[start + i] ?? 0;
    this.length = length;
    this.at = start + length;
  }
}

/** The load balancer: the resolver accepts PROXY headers from this address only. */
export const BALANCER = '127.0.0.2';

const SERVER = '127.0.0.1';
const IDS = 65_536;
const RCODE_MASK = 0x0f;
const RECEIVE_BUFFER_BYTES = 4 * 2 ** 20;
/** A query without an answer after this time counts as lost. */
const LOST_AFTER_MS = 2_000;
const GIVE_UP_EVERY_MS = 100;
const RCODE_NAMES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'];
const BLOCK_BYTES = BLOCK_ADDRESS.split('.').map(Number);

interface ClientSocket {
  readonly socket: UdpSocket;
  readonly receiver: BatchReceiver;
  readonly sender: BatchSender;
}

/** Sends queries over several sockets in turns, and knows by the message id which are not answered yet. */
export class Client {
  sent = 0;
  answered = 0;
  outstanding = 0;
  /** Answers with the address of the block page. */
  blocked = 0;
  readonly rcodes = new Map<string, number>();
  readonly latenciesMs: number[] = [];
  private readonly sockets: readonly ClientSocket[];
  private readonly route: Int32Array;
  /** When the query with this id was sent; 0: none is without an answer. */
  private readonly sentMs = new Float64Array(IDS);
  private nextId = 0;
  private turn = 0;
  private gaveUpMs = 0;

  constructor(calls: SystemCalls, sockets: number, port: number) {
    const options = { host: BALANCER, port: 0, receiveBufferBytes: RECEIVE_BUFFER_BYTES };
    this.sockets = Array.from({ length: sockets }, () => {
      const socket = UdpSocket.open(calls, options);
      return {
        socket,
        receiver: new BatchReceiver(calls, socket),
        sender: new BatchSender(calls, socket, MSG_DONTWAIT),
      };
    });
    this.route = routeTo(SERVER, port);
  }

  /** @returns the number of datagrams that have arrived */
  receive(nowMs: number): number {
    let received = 0;
    for (const { receiver } of this.sockets) {
      const count = receiver.receive(MSG_DONTWAIT);
      for (let slot = 0; slot < count; slot++) {
        this.take(receiver.bytesOf(slot), receiver.lengthOf(slot), nowMs);
      }
      received += count;
    }
    return received;
  }

  /** Sends at most `limit` queries, all from one socket. @returns how many */
  send(reader: QueryReader, limit: number, nowMs: number): number {
    const socket = this.sockets[this.turn++ % this.sockets.length];
    const count = Math.min(limit, BATCH);
    if (socket === undefined || count <= 0) return 0;
    for (let i = 0; i < count; i++) {
      reader.next();
      const id = this.nextId++ % IDS;
      reader.datagram[reader.idOffset] = id >>> 8;
      reader.datagram[reader.idOffset + 1] = id & 0xff;
      if (this.sentMs[id] === 0) this.outstanding++;
      this.sentMs[id] = nowMs;
      socket.sender.queue(this.route, reader.datagram, reader.length);
    }
    // A query that the kernel does not take is one without an answer.
    socket.sender.flush(() => undefined);
    this.sent += count;
    return count;
  }

  /** Forgets queries that have waited too long, so that others can be sent. */
  giveUpOld(nowMs: number): void {
    if (nowMs - this.gaveUpMs < GIVE_UP_EVERY_MS) return;
    this.gaveUpMs = nowMs;
    for (let id = 0; id < IDS; id++) {
      const sentMs = this.sentMs[id] ?? 0;
      if (sentMs === 0 || nowMs - sentMs < LOST_AFTER_MS) continue;
      this.sentMs[id] = 0;
      this.outstanding--;
    }
  }

  close(): void {
    for (const { socket } of this.sockets) socket.close();
  }

  private take(bytes: Uint8Array, length: number, nowMs: number): void {
    const id = ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0);
    const sentMs = this.sentMs[id] ?? 0;
    if (sentMs === 0) return; // late
    this.sentMs[id] = 0;
    this.outstanding--;
    this.answered++;
    this.latenciesMs.push(nowMs - sentMs);
    const rcode = (bytes[3] ?? 0) & RCODE_MASK;
    const rcodeName = RCODE_NAMES[rcode] ?? `RCODE${rcode}`;
    this.rcodes.set(rcodeName, (this.rcodes.get(rcodeName) ?? 0) + 1);
    // The answer to a query without EDNS ends with its last address.
    const last = length - BLOCK_BYTES.length;
    if (BLOCK_BYTES.every((byte, i) => bytes[last + i] === byte)) this.blocked++;
  }
}
