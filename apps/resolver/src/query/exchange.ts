import { ClientAddress } from '@weir/clients';
import { HEADER_BYTES, MAX_NAME_BYTES, Query, QUESTION_FIXED_BYTES } from '@weir/dns-wire';
import { ROUTE_WORDS } from '@weir/udp-batch';
import type { Question } from './question.js';

export const DropReason = {
  /** Not a query: a reply, a packet shorter than a header, a broken TCP frame. */
  malformed: 0,
  /** From a source that cannot be answered, such as port 0. */
  unanswerable: 1,
  /** Arrived while the process was stopping. */
  draining: 2,
  /** The kernel accepts no more answers at the moment. */
  backlog: 3,
  /** The system could not send the answer. */
  unsent: 4,
  /** An exception in our own code; the log describes it. */
  defect: 5,
  /** More queries or errors than one client may have in a second. */
  limited: 6,
  /** A connection over the limit of one client, or of the whole listener. */
  crowded: 7,
  /** From a load balancer, but without a valid PROXY header. */
  unproxied: 8,
  /** A connection that was closed because its client leaves too many bytes unread. */
  unread: 9,
  /** A connection that was closed because all of them leave too many bytes unread, and this one the most. */
  memory: 10,
} as const;
export type DropReason = (typeof DropReason)[keyof typeof DropReason];

/** How a query came in. Transports from `tls` on are encrypted. */
export const Transport = { udp: 0, tcp: 1, tls: 2, https: 3 } as const;
export type Transport = (typeof Transport)[keyof typeof Transport];

/** Header and the longest question. */
const MAX_OWN_BYTES = HEADER_BYTES + MAX_NAME_BYTES + QUESTION_FIXED_BYTES;

/**
 * The way back to a client: a UDP socket, or one TCP connection. For each query either `reply` or `drop` is called,
 * exactly once.
 */
export interface ReplyPath {
  readonly transport: Transport;
  /** Where it wants the next answer to be written, if it sends the answer from there. */
  readonly space?: Uint8Array;
  /** Size in bytes of the largest answer that this client accepts, 512 or more. */
  maxAnswerBytes(query: Query): number;
  /** How long the connection may be idle, in units of 100 ms. −1: clients are not told (RFC 7828 §3.2.1). */
  keepaliveUnits(): number;
  /**
   * Sends the first `length` bytes of `answer`. They are copied before this returns, unless they are in `space`. A
   * client that has gone is no error.
   */
  reply(exchange: Exchange, answer: Uint8Array, length: number): void;
  /** Sends no answer, and counts why. */
  drop(reason: DropReason): void;
}

/**
 * One query on its way through the resolver: the client, the question and the way back. Objects are reused.
 *
 * A listener fills in `bytes`, `length`, `client` and `replyPath`; the later stages read them. `bytes` belong to the
 * listener and are valid only until `handle` returns. A stage that needs the query for longer makes a copy with
 * `copyFrom`.
 */
export class Exchange implements Question {
  bytes: Uint8Array = new Uint8Array(0);
  length = 0;
  readonly client = new ClientAddress();
  /** Where a UDP answer goes: to the client, or the load balancer in front of it, from the address that was asked. */
  readonly route = new Int32Array(ROUTE_WORDS);
  replyPath!: ReplyPath;
  readonly query = new Query();
  /**
   * Keyed hash of the qname as two signed 32-bit words. Set by `QueryDecider`. 0 for the root and for a class that is
   * refused.
   */
  nameHashLow = 0;
  nameHashHigh = 0;
  /** When its handling has started, on the monotonic clock in milliseconds, if the query is timed; else 0. */
  startedMs = 0;
  /** The next client that waits for the same answer: a linked list. */
  next: Exchange | null = null;
  /** While it waits for an upstream: the account of its subscriber in `SubscriberShares`. */
  account = -1;
  private ownBytes: Uint8Array | null = null;

  /** Becomes a copy of `other` that owns its header and question. */
  copyFrom(other: Exchange): void {
    this.ownBytes ??= new Uint8Array(MAX_OWN_BYTES);
    const end = other.query.questionEnd;
    for (let i = 0; i < end; i++) this.ownBytes[i] = other.bytes[i];
    this.bytes = this.ownBytes;
    this.length = end;
    this.client.copyFrom(other.client);
    for (let i = 0; i < ROUTE_WORDS; i++) this.route[i] = other.route[i];
    this.replyPath = other.replyPath;
    this.query.copyFrom(other.query);
    this.nameHashLow = other.nameHashLow;
    this.nameHashHigh = other.nameHashHigh;
    this.startedMs = other.startedMs;
  }
}

export interface QueryHandler {
  /**
   * Handles the query in `exchange.bytes`. The answer goes to its `replyPath`, now or later. The exchange may be reused
   * as soon as this returns.
   */
  handle(exchange: Exchange): void;
}

/** What becomes of a query that is to be forwarded. */
export const ForwardResult = {
  /** An event follows. */
  taken: 0,
  /** Too many are in flight, or too many of this subscriber. */
  refused: 1,
  /** Nothing in its zone is answered. */
  deadZone: 2,
} as const;
export type ForwardResult = (typeof ForwardResult)[keyof typeof ForwardResult];
