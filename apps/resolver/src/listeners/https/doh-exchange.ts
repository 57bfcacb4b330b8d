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

  /**
   * @param account unread bytes of the connection
   * @param onDone called once, when the request is answered
   */
  constructor(
    private readonly call: HttpCall,
    private readonly counters: QueryCounters,
    private readonly account: UnreadAccount,
    private readonly onDone: () => void,
  ) {}

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
    const { account } = this;
    const bytes = body.length + HEADERS_BYTES;
    this.call.respond(status, headers, body, () => {
      account.set(account.bytes - bytes);
    });
    this.onDone();
    account.set(account.bytes + bytes);
  }
}
