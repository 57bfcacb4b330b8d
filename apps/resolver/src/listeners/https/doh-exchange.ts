import { freshnessSeconds, MAX_MESSAGE_BYTES, parseResponse, Response } from '@weir/dns-wire';
import type { QueryCounters } from '../../metrics/query-counters.js';
import { DropReason } from '../../query/drop-reason.js';
import type { Exchange, ReplyPath } from '../../query/exchange.js';
import { Transport } from '../../query/transport.js';
import type { UnreadAccount } from '../unread-bytes.js';
import { answerHeaders, errorHeaders } from './doh-request.js';
import type { HttpCall } from './http-call.js';

const NO_BODY = Buffer.alloc(0);
/** Memory of the headers of an answer, about. */
const HEADERS_BYTES = 256;
/** Used to read the TTLs of an answer; one answer at a time. */
const response = new Response();

/** HTTP statuses of queries without an answer. Any other reason is an error of the server. */
const STATUSES: Partial<Record<DropReason, number>> = {
  [DropReason.malformed]: 400,
  [DropReason.limited]: 429,
};

/** The way back of one query over HTTPS. DNS errors are normal HTTP answers (RFC 8484 §4.2.1). */
export class DohExchange implements ReplyPath {
  readonly transport = Transport.https;
  /** Bytes of memory that the request and its answer hold. */
  private held = 0;

  /**
   * @param account that of the connection
   * @param onAnswer called with the HTTP status when the request is answered
   */
  constructor(
    private readonly call: HttpCall,
    private readonly counters: QueryCounters,
    private readonly account: UnreadAccount,
    private readonly onAnswer: (status: number) => void,
  ) {}

  /** So many bytes more are held. This may close the connection. */
  hold(bytes: number): void {
    this.held += bytes;
    this.account.set(this.account.bytes + bytes);
  }

  /** Nothing is held any more. */
  release(): void {
    this.account.set(this.account.bytes - this.held);
    this.held = 0;
  }

  maxAnswerBytes(): number {
    return MAX_MESSAGE_BYTES;
  }

  keepaliveUnits(): number {
    return -1;
  }

  reply(_exchange: Exchange, answer: Uint8Array, length: number): void {
    const body = Buffer.from(answer.subarray(0, length));
    const maxAge = parseResponse(body, length, response) ? freshnessSeconds(response) : 0;
    this.respond(200, answerHeaders(length, maxAge), body);
  }

  drop(reason: DropReason): void {
    this.counters.drop(reason);
    this.fail(STATUSES[reason] ?? 500);
  }

  fail(status: number): void {
    this.respond(status, errorHeaders(status), NO_BODY);
  }

  private respond(status: number, headers: Readonly<Record<string, string>>, body: Buffer): void {
    this.call.respond(status, headers, body);
    this.hold(body.length + HEADERS_BYTES);
    this.onAnswer(status);
  }
}
