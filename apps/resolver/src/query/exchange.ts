import { ClientAddress } from '@weir/clients';
import { HEADER_BYTES, MAX_NAME_BYTES, Query, QUESTION_FIXED_BYTES } from '@weir/dns-wire';
import type { DropReason } from './drop-reason.js';
import type { Transport } from './transport.js';
import type { Question } from './question.js';

/** Header and the longest question. */
const MAX_OWN_BYTES = HEADER_BYTES + MAX_NAME_BYTES + QUESTION_FIXED_BYTES;

/** The way back to a client: a UDP listener, or one TCP connection. For each query exactly one of the methods is called, once. */
export interface ReplyPath {
  readonly transport: Transport;
  /** Largest answer in bytes that this client takes, 512 or more. */
  maxAnswerBytes(query: Query): number;
  /** Sends the first `length` bytes of `answer`, copied before it returns. A client that is gone is no error. */
  reply(exchange: Exchange, answer: Uint8Array, length: number): void;
  /** There will be no answer. Counts it. */
  drop(reason: DropReason): void;
}

const NOWHERE: ReplyPath = {
  transport: 0,
  maxAnswerBytes: () => {
    throw new Error('an exchange without a query');
  },
  reply: () => {
    throw new Error('an exchange without a query');
  },
  drop: () => {
    throw new Error('an exchange without a query');
  },
};

/**
 * One query on its way through the resolver: who asks, what, and the way back. Reused. A listener fills in `bytes`, `length`, the
 * client and the way back; the rest of the path reads them. `bytes` belong to the listener and are good only until `handle`
 * returns: who needs the query longer keeps it with `copyFrom`.
 */
export class Exchange implements Question {
  bytes: Uint8Array = new Uint8Array(0);
  length = 0;
  readonly client = new ClientAddress();
  /** Where a UDP answer goes, as the socket gave it: the client, or the load balancer before it. */
  peerAddress = '';
  peerPort = 0;
  replyPath: ReplyPath = NOWHERE;
  readonly query = new Query();
  /** Keyed hash of the qname, signed; known once the query is judged, 0 for the root and for a class that is refused. */
  nameHashLow = 0;
  nameHashHigh = 0;
  /** When it came, in milliseconds of a clock that never goes back; 0 when its time is not taken. */
  startedMs = 0;
  /** The next that waits for the same answer. */
  next: Exchange | null = null;
  private ownBytes: Uint8Array | null = null;

  /** Becomes a copy of `other` that owns its header and question. */
  copyFrom(other: Exchange): void {
    this.ownBytes ??= new Uint8Array(MAX_OWN_BYTES);
    const end = other.query.questionEnd;
    for (let i = 0; i < end; i++) this.ownBytes[i] = other.bytes[i];
    this.bytes = this.ownBytes;
    this.length = end;
    this.client.copyFrom(other.client);
    this.peerAddress = other.peerAddress;
    this.peerPort = other.peerPort;
    this.replyPath = other.replyPath;
    this.query.copyFrom(other.query);
    this.nameHashLow = other.nameHashLow;
    this.nameHashHigh = other.nameHashHigh;
    this.startedMs = other.startedMs;
  }
}
