import {
  Ede,
  equalsIgnoringCase,
  HEADER_BYTES,
  MAX_UPSTREAM_QUERY_BYTES,
  Rcode,
  type Response,
  setEmptyResponse,
} from '@weir/dns-wire';
import { Exchange } from '../query/exchange.js';
import { OwnQuestion, type Question, questionKey, questionTag } from '../query/question.js';

/**
 * Maximum number of attempts of one question. Each attempt stays open until the question is completed, so a late answer
 * counts.
 */
export const MAX_ATTEMPTS = 3;

export const NO_ERROR = -1;

/** What carries queries to one upstream and knows them by their ids: a UDP socket, or a connection. */
export interface QuerySocket {
  /** Index of the upstream. */
  readonly upstream: number;
  /** Packets with an id that no query has had. */
  wrongIds: number;
  /** Reserves an id that no other open query of this socket has. */
  reserve(entry: InFlight): number;
  /** Frees the id. An answer with it is no longer expected. */
  forget(id: number): void;
  /** The open query with that id. */
  find(id: number): InFlight | undefined;
  /** Whether an answer with that id may be late, so that nobody has guessed it. */
  hasUsed(id: number): boolean;
  /** A snapshot of all entries that wait here. */
  waitingEntries(): Set<InFlight>;
  /** Sends a query under the reserved id that it has. */
  send(packet: Uint8Array, length: number): void;
}

/** One question in flight, and the clients that wait for the answer. Objects are reused. */
export class InFlight {
  /** The first client, unless `isRefresh`. */
  readonly exchange = new Exchange();
  /** What is asked: the question of the first client, or another one that its answer needs. */
  question: Question = this.exchange;
  private ownQuestion: OwnQuestion | null = null;
  /** Whether the question is asked for the cache only. */
  isRefresh = false;
  /** Whether the answer is only for the clients that wait already: the cache was flushed meanwhile. */
  isHidden = false;
  /** More waiting clients, linked by `Exchange.next`. */
  firstWaiting: Exchange | null = null;
  /**
   * The packet of the last attempt. It must not change while a socket may still send it. Its question is the same in
   * all attempts, but its letters may have another case than those of the client.
   */
  readonly packet = new Uint8Array(MAX_UPSTREAM_QUERY_BYTES);
  packetLength = 0;
  /** Number of this use of the object. Callbacks of an earlier use compare it and do nothing. */
  use = 0;
  /** Generation of the cache when the question was asked. */
  generation = 0;
  /** Position in the list of active entries. */
  position = -1;
  /** The next entry in the same hash bucket. */
  nextInBucket: InFlight | null = null;
  attemptCount = 0;
  /** Index of the upstream of each attempt. */
  readonly upstreams = new Int32Array(MAX_ATTEMPTS);
  /** Socket and id of each attempt; null when it is repeated over TCP or has failed. */
  readonly sockets: (QuerySocket | null)[] = Array.from({ length: MAX_ATTEMPTS }, () => null);
  readonly ids = new Uint16Array(MAX_ATTEMPTS);
  /** 1 when the attempt was asked with EDNS. */
  readonly withEdns = new Uint8Array(MAX_ATTEMPTS);
  /** How often the upstream has called the cookies of each attempt bad. */
  readonly badCookies = new Uint8Array(MAX_ATTEMPTS);
  /** Start time of each attempt. */
  readonly startedMs = new Float64Array(MAX_ATTEMPTS);
  /** 1 while the attempt may still bring an answer, even after it was counted as a timeout. */
  private readonly open = new Uint8Array(MAX_ATTEMPTS);
  /** When the last attempt times out, and when the whole question does. */
  attemptDeadlineMs = 0;
  deadlineMs = 0;
  /** Whether it counts in `ZoneShares`. */
  isOfZone = false;
  /** From this time on, clients rather get an expired answer than wait. */
  staleAtMs = 0;
  /** Whether that time was seen to pass. */
  isLate = false;
  /** RCODE and EDE of the first upstream that answered with an error. `NO_ERROR`: none has. */
  errorRcode = NO_ERROR;
  errorEde = 0;

  /** @param isProbe whether it is a probe of an upstream, see `Prober`; no client waits for it */
  constructor(readonly isProbe = false) {}

  /** Copies both. */
  setQuestion(exchange: Exchange, question: Question): void {
    this.exchange.copyFrom(exchange);
    this.question = this.exchange;
    if (question === exchange) return;
    this.ownQuestion ??= new OwnQuestion();
    this.ownQuestion.copyFrom(question);
    this.question = this.ownQuestion;
  }

  /** Begins the next attempt. Without a socket it has failed already. @returns its number */
  beginAttempt(upstream: number, socket: QuerySocket | null, nowMs: number): number {
    const attempt = this.attemptCount++;
    this.upstreams[attempt] = upstream;
    this.startedMs[attempt] = nowMs;
    this.badCookies[attempt] = 0;
    this.sockets[attempt] = socket;
    this.open[attempt] = socket === null ? 0 : 1;
    if (socket !== null) this.ids[attempt] = socket.reserve(this);
    return attempt;
  }

  /** Frees the id of the attempt: an answer to it is no longer expected. */
  leaveSocket(attempt: number): void {
    this.sockets[attempt]?.forget(this.ids[attempt]);
    this.sockets[attempt] = null;
  }

  /** The attempt has brought no answer. */
  endAttempt(attempt: number): void {
    this.leaveSocket(attempt);
    this.open[attempt] = 0;
  }

  isOpen(attempt: number): boolean {
    return this.open[attempt] === 1;
  }

  /** Whether any client waits for the answer. */
  get hasClients(): boolean {
    return !this.isRefresh || this.firstWaiting !== null;
  }

  /** Whether any attempt may still bring an answer. */
  get hasOpenAttempt(): boolean {
    for (let i = 0; i < this.attemptCount; i++) if (this.isOpen(i)) return true;
    return false;
  }

  /** The question times out at `deadlineMs` at the latest. */
  shortenDeadline(deadlineMs: number): void {
    this.deadlineMs = Math.min(this.deadlineMs, deadlineMs);
    this.attemptDeadlineMs = Math.min(this.attemptDeadlineMs, deadlineMs);
  }

  /** The attempt with this socket and id, or −1. */
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

  /** Whether it is the same question: name (ignoring case), type, DO and CD. */
  asks(other: Question): boolean {
    const { bytes, query, nameHashLow, nameHashHigh } = this.question;
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

/** Makes `response` what clients of a question get when it has no answer: the error of an upstream, or SERVFAIL. */
export function setFailure(response: Response, entry: InFlight): void {
  const { bytes, query } = entry.question;
  const hasError = entry.errorRcode !== NO_ERROR;
  const rcode = hasError ? entry.errorRcode : Rcode.servFail;
  const silence = entry.hasOpenAttempt ? Ede.noReachableAuthority : Ede.networkError;
  setEmptyResponse(response, bytes, query, rcode, hasError ? entry.errorEde : silence);
}

/** The questions in flight: at most `capacity`, each only once. Entries are reused. */
export class InFlightPool {
  private readonly free: InFlight[] = [];
  private readonly active: InFlight[] = [];
  private readonly buckets: (InFlight | null)[];

  constructor(private readonly capacity: number) {
    const count = 2 ** Math.ceil(Math.log2(capacity * 2));
    this.buckets = Array.from({ length: count }, () => null);
  }

  get size(): number {
    return this.active.length;
  }

  get isFull(): boolean {
    return this.active.length >= this.capacity;
  }

  at(position: number): InFlight {
    return this.active[position];
  }

  /** The entry of the question, or null. */
  find(question: Question): InFlight | null {
    let entry = this.buckets[this.bucketOf(question)];
    while (entry !== null && !entry.asks(question)) entry = entry.nextInBucket;
    return entry;
  }

  /**
   * The pool must not be full.
   * @returns an entry with copies of exchange and question, which must not be in flight yet
   */
  take(exchange: Exchange, question: Question): InFlight {
    const entry = this.free.pop() ?? new InFlight();
    entry.setQuestion(exchange, question);
    entry.position = this.active.length;
    entry.isHidden = false;
    entry.attemptCount = 0;
    entry.isLate = false;
    entry.errorRcode = NO_ERROR;
    this.active.push(entry);
    const bucket = this.bucketOf(entry.question);
    entry.nextInBucket = this.buckets[bucket];
    this.buckets[bucket] = entry;
    return entry;
  }

  /** Closes all attempts and removes the entry from the active ones. `release` makes it available for reuse. */
  end(entry: InFlight): void {
    for (let i = 0; i < entry.attemptCount; i++) entry.endAttempt(i);
    entry.use++;
    if (!entry.isHidden) this.unlink(entry);
    const last = this.active.pop();
    if (last !== undefined && last !== entry) {
      this.active[entry.position] = last;
      last.position = entry.position;
    }
    entry.position = -1;
  }

  /** From now on `find` does not find the entry, so the same question may be taken once more. */
  hide(entry: InFlight): void {
    if (entry.isHidden) return;
    entry.isHidden = true;
    this.unlink(entry);
  }

  release(entry: InFlight): void {
    this.free.push(entry);
  }

  private unlink(entry: InFlight): void {
    const bucket = this.bucketOf(entry.question);
    let before = this.buckets[bucket];
    if (before === entry) {
      this.buckets[bucket] = entry.nextInBucket;
      return;
    }
    while (before !== null && before.nextInBucket !== entry) before = before.nextInBucket;
    if (before !== null) before.nextInBucket = entry.nextInBucket;
  }

  private bucketOf({ nameHashLow, query }: Question): number {
    return questionTag(nameHashLow, questionKey(query)) & (this.buckets.length - 1);
  }
}

/** What a socket reports. */
export interface QuerySocketEvents {
  /** The first `length` bytes are a packet from the upstream. `socket.find` returns the query with its id. */
  onPacket(socket: QuerySocket, packet: Uint8Array, length: number): void;
  /** The upstream cannot be reached, or sending failed. The socket stays in use. */
  onUnreachable(socket: QuerySocket): void;
}

/** The ways to one upstream. Times are milliseconds on one clock. */
export interface QuerySockets {
  /** Opens what is kept open. An unreachable upstream is no error. */
  open(nowMs: number): void;
  /** The socket for the next query; null when there is none. */
  choose(nowMs: number): QuerySocket | null;
  /** Somebody guesses the ids of this socket. */
  abandon(socket: QuerySocket, nowMs: number): void;
  /** The upstream cannot be reached through this socket. Perhaps its address is gone from this machine. */
  wear(socket: QuerySocket, nowMs: number): void;
  /** Called regularly. */
  maintain(nowMs: number): void;
  close(): void;
}
