import { ROUTE_WORDS } from '@weir/udp-batch';
import type { CacheReader } from '../cache/cache-reader.js';
import type { UpstreamAccess } from '../query-path/query-path.js';
import {
  DropReason,
  type Exchange,
  ForwardResult,
  type QueryHandler,
  QueryStage,
  type ReplyPath,
} from '../query/exchange.js';
import type { Question } from '../query/question.js';
import { LaneCount, type LaneCounts } from './lane-counts.js';

/*
 * Queries on their way from a lane to the main thread: a ring of records in shared memory. One thread writes, another
 * one reads; neither waits.
 *
 *   control  word 0   words that were written since the start; the reader sees a record when it has grown
 *            word 16  words that were read (in another cache line)
 *   record   word 0   its length in words; 0: the rest of the ring is not used, go on at its start
 *                 1   length of the query in bytes
 *                 2   index of the socket      3  a `HandoverKind`
 *                 4   address family of the client, its port (5), its address (6 … 9)
 *                10   time of arrival in microseconds (2)
 *                12   keyed hash of the name (2), when it was decided
 *                14   route (ROUTE_WORDS)
 *                26   the query, padded to words
 */
const WRITTEN = 0;
const READ = 16;
const CONTROL_WORDS = 32;

const LENGTH = 1;
const SOCKET = 2;
const KIND = 3;
const FAMILY = 4;
const PORT = 5;
const ADDRESS = 6;
const ARRIVED = 10;
const NAME_HASH = 12;
const ROUTE = 14;
const QUERY = ROUTE + ROUTE_WORDS;
const MICROSECONDS = 1e3;
const HIGH = 2 ** 32;

/** What the main thread is to do with a query: what is left after its stage. */
export const HandoverKind = {
  ...QueryStage,
  /** Only to refresh the cached answer: the client has got it. */
  refresh: 3,
} as const;
export type HandoverKind = (typeof HandoverKind)[keyof typeof HandoverKind];

/** A power of two: 1 MiB, for about 6000 queries. */
const RING_WORDS = 2 ** 18;

/** @param words for records: a power of two */
export function createHandoverRing(words = RING_WORDS): SharedArrayBuffer {
  return new SharedArrayBuffer((CONTROL_WORDS + words) * Int32Array.BYTES_PER_ELEMENT);
}

/** What both ends need. */
class RingEnd {
  protected readonly control: Int32Array;
  protected readonly words: Int32Array;
  protected readonly bytes: Uint8Array;

  constructor(memory: SharedArrayBuffer) {
    const start = CONTROL_WORDS * Int32Array.BYTES_PER_ELEMENT;
    this.control = new Int32Array(memory, 0, CONTROL_WORDS);
    this.words = new Int32Array(memory, start);
    this.bytes = new Uint8Array(memory, start);
  }
}

/** The end of the lane. Allocates nothing. */
export class HandoverWriter extends RingEnd {
  /**
   * @param exchange with its route
   * @returns false: there is no room
   */
  write(exchange: Exchange, socket: number, kind: HandoverKind, arrivedMs: number): boolean {
    const size = QUERY + ((exchange.length + 3) >> 2);
    const at = this.reserve(size);
    if (at < 0) return false;
    const { words, bytes } = this;
    const { client, route } = exchange;
    words[at] = size;
    words[at + LENGTH] = exchange.length;
    words[at + SOCKET] = socket;
    words[at + KIND] = kind;
    words[at + FAMILY] = client.family;
    words[at + PORT] = client.port;
    for (let i = 0; i < client.words.length; i++) words[at + ADDRESS + i] = client.words[i];
    const microseconds = Math.floor(arrivedMs * MICROSECONDS);
    words[at + ARRIVED] = microseconds >>> 0;
    words[at + ARRIVED + 1] = Math.floor(microseconds / HIGH);
    words[at + NAME_HASH] = exchange.nameHashLow;
    words[at + NAME_HASH + 1] = exchange.nameHashHigh;
    for (let i = 0; i < ROUTE_WORDS; i++) words[at + ROUTE + i] = route[i];
    const start = (at + QUERY) << 2;
    for (let i = 0; i < exchange.length; i++) bytes[start + i] = exchange.bytes[i];
    Atomics.store(this.control, WRITTEN, (this.control[WRITTEN] + size) | 0);
    return true;
  }

  /** @returns where a record of that many words begins, or −1 */
  private reserve(size: number): number {
    const { control, words } = this;
    const written = control[WRITTEN];
    const free = words.length - ((written - Atomics.load(control, READ)) | 0);
    const at = written & (words.length - 1);
    const untilEnd = words.length - at;
    if (size <= untilEnd) return size <= free ? at : -1;
    if (untilEnd + size > free) return -1;
    words[at] = 0;
    Atomics.store(control, WRITTEN, (written + untilEnd) | 0);
    return 0;
  }
}

/** The end of the main thread. */
export class HandoverReader extends RingEnd {
  /** Of the query that was read last. */
  socket = 0;
  isRefresh = false;

  get isEmpty(): boolean {
    return this.control[READ] === Atomics.load(this.control, WRITTEN);
  }

  /**
   * Reads the next query.
   * @param exchange gets what a listener sets, except for `replyPath`
   * @param buffer becomes the bytes of the exchange: room for the longest query
   * @returns false: there is none
   */
  read(exchange: Exchange, buffer: Uint8Array): boolean {
    const { control, words, bytes } = this;
    if (this.isEmpty) return false;
    let read = control[READ];
    let at = read & (words.length - 1);
    if (words[at] === 0) {
      read = (read + words.length - at) | 0;
      at = 0;
      Atomics.store(control, READ, read);
      if (this.isEmpty) return false;
    }
    const { client, route } = exchange;
    exchange.bytes = buffer;
    exchange.length = words[at + LENGTH];
    this.socket = words[at + SOCKET];
    const kind = words[at + KIND] as HandoverKind;
    this.isRefresh = kind === HandoverKind.refresh;
    exchange.stage = kind === HandoverKind.refresh ? QueryStage.received : kind;
    client.family = words[at + FAMILY] === 4 ? 4 : 6;
    client.port = words[at + PORT];
    for (let i = 0; i < client.words.length; i++) client.words[i] = words[at + ADDRESS + i];
    const microseconds = words[at + ARRIVED + 1] * HIGH + (words[at + ARRIVED] >>> 0);
    exchange.arrivedMs = microseconds / MICROSECONDS;
    exchange.nameHashLow = words[at + NAME_HASH];
    exchange.nameHashHigh = words[at + NAME_HASH + 1];
    for (let i = 0; i < ROUTE_WORDS; i++) route[i] = words[at + ROUTE + i];
    const start = (at + QUERY) << 2;
    for (let i = 0; i < exchange.length; i++) buffer[i] = bytes[start + i];
    Atomics.store(control, READ, (read + words[at]) | 0);
    return true;
  }
}

export interface HandoverOptions {
  readonly ring: HandoverWriter;
  /** The reply paths of the sockets, in their order. */
  readonly paths: readonly ReplyPath[];
  readonly counts: LaneCounts;
  readonly cache: Pick<CacheReader, 'uncountMiss'>;
  /** Whether the main thread has made no turn for so long that clients rather get an expired answer than wait. */
  readonly isMainLate: () => boolean;
  readonly nowMs: () => number;
  /** A word that the main thread waits on. */
  readonly wake: Int32Array;
}

/**
 * Hands queries over to the main thread: those that need an upstream (`UpstreamAccess`), or all (`QueryHandler`). The
 * main thread goes on from their stage, and answers through the same socket.
 */
export class Handover implements UpstreamAccess, QueryHandler {
  /** Of this batch. */
  private handedOver = 0;
  private arrivedMs = 0;

  constructor(private readonly options: HandoverOptions) {}

  handle(exchange: Exchange): void {
    if (this.tryHandOver(exchange, HandoverKind.received)) return;
    exchange.replyPath.drop(DropReason.handover);
  }

  forward(exchange: Exchange, question: Question): ForwardResult {
    const isItsOwn = question === exchange;
    const kind = isItsOwn ? HandoverKind.missed : HandoverKind.admitted;
    if (!this.tryHandOver(exchange, kind)) return ForwardResult.refused;
    this.options.cache.uncountMiss();
    return ForwardResult.taken;
  }

  /** False: the main thread decides that. True when it has made no turn for too long. */
  isStaleDue(): boolean {
    return this.options.isMainLate();
  }

  refresh(exchange: Exchange): boolean {
    return this.tryHandOver(exchange, HandoverKind.refresh);
  }

  /** The batch has ended: wakes the main thread if there is something for it. */
  afterBatch = (): void => {
    if (this.handedOver === 0) return;
    const { wake } = this.options;
    Atomics.add(wake, 0, this.handedOver);
    Atomics.notify(wake, 0);
    this.handedOver = 0;
  };

  private tryHandOver(exchange: Exchange, kind: HandoverKind): boolean {
    const { ring, paths, counts, nowMs } = this.options;
    // One look at the clock for the whole batch.
    if (this.handedOver === 0) this.arrivedMs = nowMs();
    const socket = paths.indexOf(exchange.replyPath);
    if (!ring.write(exchange, socket, kind, this.arrivedMs)) {
      counts.count(LaneCount.notHandedOver);
      return false;
    }
    this.handedOver++;
    counts.count(LaneCount.handedOver);
    return true;
  }
}
