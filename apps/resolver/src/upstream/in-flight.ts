import { equalsIgnoringCase, HEADER_BYTES, MAX_UPSTREAM_QUERY_BYTES } from '@weir/dns-wire';
import { Exchange } from '../query/exchange.js';
import { type Question, questionKey } from '../query/question.js';

/** Most tries of one question; each stays open until the question is settled, so a late answer counts. */
export const MAX_ATTEMPTS = 3;

export const NO_ERROR = -1;

/** The socket that an attempt goes over, as far as an entry needs it: it keeps the ids of queries without an answer. */
export interface QuerySocket {
  /** Reserves an id that no other query of this socket has now. */
  reserve(entry: InFlight): number;
  /** Frees the id: its answer is not awaited any more. */
  forget(id: number): void;
}

/** One question that upstream resolvers were asked, and who waits for the answer; pooled. */
export class InFlight {
  /** The question, and the first client unless `isRefresh`. */
  readonly exchange = new Exchange();
  /** Whether it was asked for the cache alone. */
  isRefresh = false;
  /** More clients, by `Exchange.next`. */
  firstWaiting: Exchange | null = null;
  /** The packet of the last try. It stays as it is while a socket may still send it. */
  readonly packet = new Uint8Array(MAX_UPSTREAM_QUERY_BYTES);
  packetLength = 0;
  /** Number of this use of the entry: what was begun for an earlier use must not touch it. */
  generation = 0;
  /** Position among the active ones. */
  position = -1;
  /** The next whose question falls into the same bucket. */
  nextInBucket: InFlight | null = null;
  attemptCount = 0;
  /** Index of the upstream of each try. */
  readonly upstreams = new Int32Array(MAX_ATTEMPTS);
  /** Socket and id of each try; null when it goes over TCP or has failed. */
  readonly sockets: (QuerySocket | null)[] = Array.from({ length: MAX_ATTEMPTS }, () => null);
  readonly ids = new Uint16Array(MAX_ATTEMPTS);
  /** When each try began. */
  readonly startedMs = new Float64Array(MAX_ATTEMPTS);
  /** 1 while the try may still bring an answer, even if it was given up for slow. */
  private readonly open = new Uint8Array(MAX_ATTEMPTS);
  /** When the last try counts as failed, and when all do. */
  attemptDeadlineMs = 0;
  deadlineMs = 0;
  /** RCODE and EDE of the first upstream that had no answer to the question but an error; `NO_ERROR`: none has. */
  errorRcode = NO_ERROR;
  errorEde = 0;

  /** The next try begins; without a socket it has failed already. @returns its number */
  beginAttempt(upstream: number, socket: QuerySocket | null, nowMs: number): number {
    const attempt = this.attemptCount++;
    this.upstreams[attempt] = upstream;
    this.startedMs[attempt] = nowMs;
    this.sockets[attempt] = socket;
    this.open[attempt] = socket === null ? 0 : 1;
    if (socket !== null) this.ids[attempt] = socket.reserve(this);
    return attempt;
  }

  /** Forgets the try's socket: an answer that comes there is not awaited any more. */
  leaveSocket(attempt: number): void {
    this.sockets[attempt]?.forget(this.ids[attempt]);
    this.sockets[attempt] = null;
  }

  /** The try brings no answer. */
  endAttempt(attempt: number): void {
    this.leaveSocket(attempt);
    this.open[attempt] = 0;
  }

  isOpen(attempt: number): boolean {
    return this.open[attempt] === 1;
  }

  /** Whether any try may still bring an answer. */
  get hasOpenAttempt(): boolean {
    for (let i = 0; i < this.attemptCount; i++) if (this.isOpen(i)) return true;
    return false;
  }

  /** The time for all tries is up at `deadlineMs` at the latest. */
  shortenDeadline(deadlineMs: number): void {
    this.deadlineMs = Math.min(this.deadlineMs, deadlineMs);
    this.attemptDeadlineMs = Math.min(this.attemptDeadlineMs, deadlineMs);
  }

  /** The try that used this socket and id, or −1. */
  attemptOf(socket: QuerySocket, id: number): number {
    for (let i = 0; i < this.attemptCount; i++) {
      if (this.sockets[i] === socket && this.ids[i] === id) return i;
    }
    return -1;
  }

  hasTried(upstream: number): boolean {
    for (let i = 0; i < this.attemptCount; i++) if (this.upstreams[i] === upstream) return true;
    return false;
  }

  /** Whether it asks the same: name but for case, type, DO and CD. */
  asks(other: Question): boolean {
    const { bytes, query, nameHashLow, nameHashHigh } = this.exchange;
    return (
      nameHashLow === other.nameHashLow &&
      nameHashHigh === other.nameHashHigh &&
      query.questionEnd === other.query.questionEnd &&
      questionKey(query) === questionKey(other.query) &&
      equalsIgnoringCase(
        bytes,
        HEADER_BYTES,
        other.bytes,
        HEADER_BYTES,
        query.questionEnd - HEADER_BYTES,
      )
    );
  }
}
