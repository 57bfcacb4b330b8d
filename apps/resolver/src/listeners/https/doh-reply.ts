import type { ClientAddress } from '@weir/clients';
import { freshnessSeconds, MAX_MESSAGE_BYTES, parseResponse, Response } from '@weir/dns-wire';
import type { TLSSocket } from 'node:tls';
import type { QueryCounters } from '../../metrics/query-counters.js';
import { DropReason } from '../../query/drop-reason.js';
import { type Exchange, type ReplyPath, Transport } from '../../query/exchange.js';

/** A connection, whichever version of HTTP it speaks. */
export interface DohConnection {
  readonly socket: TLSSocket;
  readonly client: ClientAddress;
  readonly counters: QueryCounters;
  /** Passes a query on. Its answer goes to `reply`. */
  handle(query: Buffer, reply: ReplyPath): void;
  /** A request was answered with this HTTP status. This may close the connection. */
  onAnswer(status: number): void;
  /** A request was reset or refused. This may close the connection. */
  onGlitch(): void;
  /** So many bytes of memory are held. This may close the connection. */
  hold(bytes: number): void;
}

/** HTTP statuses of queries without an answer. Any other reason is an error of the server. */
const STATUSES: Partial<Record<DropReason, number>> = {
  [DropReason.malformed]: 400,
  [DropReason.limited]: 429,
};

/** Used to read the TTLs of an answer; one answer at a time. */
const response = new Response();

/** The way back of one query over HTTPS. DNS errors are normal HTTP answers (RFC 8484 §4.2.1). */
export abstract class DohReply implements ReplyPath {
  readonly transport = Transport.https;

  constructor(private readonly counters: QueryCounters) {}

  /** Answers with status 200. The bytes are copied. */
  protected abstract respond(answer: Uint8Array, maxAgeSeconds: number): void;

  /** Answers with an HTTP error. */
  abstract fail(status: number): void;

  maxAnswerBytes(): number {
    return MAX_MESSAGE_BYTES;
  }

  keepaliveUnits(): number {
    return -1;
  }

  reply(_exchange: Exchange, answer: Uint8Array, length: number): void {
    const maxAge = parseResponse(answer, length, response) ? freshnessSeconds(response) : 0;
    this.respond(answer.subarray(0, length), maxAge);
  }

  drop(reason: DropReason): void {
    this.counters.drop(reason);
    this.fail(STATUSES[reason] ?? 500);
  }
}
