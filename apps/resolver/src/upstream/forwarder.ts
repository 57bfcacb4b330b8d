import { hasUsableRcode, HEADER_BYTES, Response } from '@weir/dns-wire';
import { type Exchange, ForwardResult } from '../query/exchange.js';
import type { NameRange } from '../query/name-range.js';
import type { Question } from '../query/question.js';
import { AttemptRunner, type AttemptOptions } from './attempt-runner.js';
import { InFlightPool, setFailure, type InFlight, NO_ERROR } from './in-flight.js';
import { OVER_SHARE, Share, type ShareOptions, SubscriberShares } from './subscriber-shares.js';
import { SweepTimer, Sweep } from './sweep.js';
import { hasAnsweredOthers } from './upstream-choice.js';
import type { Upstream } from './upstream.js';
import { type ClientEvents, WaitingClients } from './waiting-clients.js';
import { ZoneShares, type ZoneSharesOptions } from './zone-shares.js';

/**
 * Events of a question: `onCompleted` once unless it was forgotten, then `onResponse` once for each client that still
 * waits.
 */
export interface ForwardEvents extends ClientEvents {
  /**
   * The question is in flight for a while. @returns whether its clients get an expired answer when they are given an
   * empty response, as if no upstream had answered; then they do not wait any more
   */
  hasStale(question: Question): boolean;
  /**
   * The accepted response to the question, with an RCODE below 16. Without an answer from any upstream the response is
   * empty: the first error that an upstream sent, else SERVFAIL with EDE 22, or with EDE 23 when no upstream could be
   * reached. Both arguments are valid until this returns.
   */
  onCompleted(question: Question, response: Response): void;
}

export interface ForwarderOptions extends AttemptOptions {
  readonly events: ForwardEvents;
  /** Maximum number of questions in flight. */
  readonly capacity?: number;
  /** Maximum number of clients that wait for a question of another client. */
  readonly waitingCapacity?: number;
  /** Time limit for all attempts of a question together. */
  readonly queryTimeoutMs?: number;
  /** After this long, clients with an expired answer get it. 0: at once. */
  readonly staleAfterMs?: number;
  /** What one subscriber may have of these capacities. */
  readonly share: ShareOptions;
  /** What one zone may have of them while it answers nothing. */
  readonly zones: ZoneSharesOptions;
}

const DEFAULT_CAPACITY = 8192;
const DEFAULT_WAITING_CAPACITY = 16_384;
const DEFAULT_QUERY_TIMEOUT_MS = 3_000;
/** The client response timer of RFC 8767 §5. */
const DEFAULT_STALE_AFTER_MS = 1_800;

/**
 * Asks upstream resolvers. A question is in flight only once: clients that ask the same question meanwhile wait for the
 * same answer. `AttemptRunner` sends the queries.
 */
export class Forwarder {
  /** Queries that were rejected because too many of all subscribers were in flight, or waited. */
  overloads = 0;
  /** Queries that were rejected because their subscriber had its share already. */
  overShare = 0;
  /** Queries that were rejected because nothing in their zone is answered. */
  deadZone = 0;
  private readonly attempts: AttemptRunner;
  private readonly clients: WaitingClients;
  private readonly pool: InFlightPool;
  private readonly shares: SubscriberShares;
  private readonly zones: ZoneShares;
  private readonly sweep: Sweep;
  private readonly noAnswer = new Response();
  private readonly events: ForwardEvents;
  private readonly nowMs: () => number;
  private readonly queryTimeoutMs: number;
  private readonly staleAfterMs: number;
  private timer: SweepTimer | null = null;

  constructor(options: ForwarderOptions) {
    const { events, nowMs, queryTimeoutMs = DEFAULT_QUERY_TIMEOUT_MS } = options;
    const { capacity = DEFAULT_CAPACITY, waitingCapacity = DEFAULT_WAITING_CAPACITY } = options;
    this.events = events;
    this.nowMs = nowMs;
    this.queryTimeoutMs = queryTimeoutMs;
    this.staleAfterMs = options.staleAfterMs ?? DEFAULT_STALE_AFTER_MS;
    this.pool = new InFlightPool(capacity);
    this.shares = new SubscriberShares([capacity, waitingCapacity], options.share);
    this.zones = new ZoneShares(options.zones);
    this.clients = new WaitingClients(events, waitingCapacity, this.shares, nowMs);
    this.attempts = new AttemptRunner(options, this.complete.bind(this));
    const onTimeout = this.attempts.onTimeout.bind(this.attempts);
    this.sweep = new Sweep(this.pool, { onTimeout, onLate: this.onLate.bind(this) }, nowMs);
  }

  get upstreams(): readonly Upstream[] {
    return this.attempts.upstreams;
  }

  /** Opens the sockets. An upstream without a route is no error: its sockets are opened later. */
  async open(): Promise<void> {
    await Promise.all(this.upstreams.map((upstream) => upstream.sockets.open(this.nowMs())));
    this.timer = new SweepTimer(() => {
      this.sweep.begin();
      this.attempts.maintain();
      return this.pool.size > 0 || this.attempts.isProbing;
    });
  }

  /** Stops. Questions in flight and clients that wait are dropped without an event. */
  close(): void {
    this.timer?.stop();
    this.sweep.stop();
    this.clients.close();
    while (this.pool.size > 0) this.pool.end(this.pool.at(0));
    for (const upstream of this.upstreams) upstream.close();
  }

  get inFlight(): number {
    return this.pool.size;
  }

  /** Clients that wait for an answer. */
  get waiting(): number {
    return this.clients.count;
  }

  /** Queries that joined a question already in flight. */
  get coalesced(): number {
    return this.clients.coalesced;
  }

  /** Whether no upstream answers. */
  get allDown(): boolean {
    for (const upstream of this.upstreams) if (!upstream.health.isDown) return false;
    return true;
  }

  /** Whether a client rather gets an expired answer than waits: nobody answers, or has not for long enough. */
  isStaleDue(question: Question): boolean {
    if (this.staleAfterMs === 0 || this.allDown) return true;
    const entry = this.pool.find(question);
    return entry !== null && this.nowMs() >= entry.staleAtMs;
  }

  /**
   * Asks the question for the client of the exchange, or joins it when it is in flight already. No event follows
   * unless the result is `taken`.
   * @param question that of the exchange, or another one that its answer needs
   */
  forward(exchange: Exchange, question: Question): ForwardResult {
    const entry = this.pool.find(question);
    if (entry === null ? this.pool.isFull : this.clients.isFull) {
      this.overloads++;
      return ForwardResult.refused;
    }
    const result =
      entry === null ? this.ask(exchange, question, false) : this.join(entry, exchange);
    if (result === ForwardResult.refused) this.overShare++;
    if (result === ForwardResult.deadZone) this.deadZone++;
    return result;
  }

  /**
   * Asks the question for the cache only, on the account of that client: no client waits, and only `onCompleted`
   * follows.
   * @returns false when it is in flight already, or is not taken
   */
  refresh(exchange: Exchange, question: Question): boolean {
    if (this.pool.isFull || this.pool.find(question) !== null) return false;
    return this.ask(exchange, question, true) === ForwardResult.taken;
  }

  /**
   * Forgets the questions about these names, or all questions. Their answers reach the clients that wait for them, but
   * no other client, and `onCompleted` does not follow.
   */
  forget(names: NameRange | null): void {
    for (let i = 0; i < this.pool.size; i++) {
      const entry = this.pool.at(i);
      // The answer may turn out to be NXDOMAIN.
      const isMeant = names === null || names.hasNxDomain(entry.question.bytes, HEADER_BYTES);
      if (isMeant) this.pool.hide(entry);
    }
  }

  private join(entry: InFlight, exchange: Exchange): ForwardResult {
    return this.clients.join(entry, exchange) ? ForwardResult.taken : ForwardResult.refused;
  }

  /** The pool is not full. */
  private ask(exchange: Exchange, question: Question, isRefresh: boolean): ForwardResult {
    const account = this.shares.take(exchange.client, Share.questions);
    if (account === OVER_SHARE) return ForwardResult.refused;
    const nowMs = this.nowMs();
    const isOfZone = this.zones.take(question, 1 + Math.floor(nowMs / 1000));
    // While the upstreams themselves are silent, no zone is to blame.
    if (!isOfZone && this.hasSoundUpstream) {
      this.shares.release(account, Share.questions);
      return ForwardResult.deadZone;
    }
    const entry = this.pool.take(exchange, question);
    entry.isOfZone = isOfZone;
    entry.exchange.account = account;
    entry.isRefresh = isRefresh;
    this.clients.add(entry);
    entry.deadlineMs = nowMs + this.queryTimeoutMs;
    entry.staleAtMs = nowMs + this.staleAfterMs;
    this.attempts.start(entry);
    this.timer?.wake();
    return ForwardResult.taken;
  }

  private get hasSoundUpstream(): boolean {
    for (const { health } of this.upstreams) if (health.isSound) return true;
    return false;
  }

  /** Clients with an expired answer get it. The question goes on for the cache, and for clients that come later. */
  private onLate(entry: InFlight): void {
    entry.isLate = true;
    if (!entry.hasClients || !this.events.hasStale(entry.question)) return;
    setFailure(this.noAnswer, entry);
    this.clients.answerAll(entry, this.noAnswer);
    entry.isRefresh = true;
  }

  /** The question has a result. All waiting clients get it. */
  private complete(entry: InFlight, response: Response): void {
    this.pool.end(entry);
    this.shares.release(entry.exchange.account, Share.questions);
    this.releaseZone(entry, response);
    if (!entry.isHidden) this.events.onCompleted(entry.question, response);
    this.clients.answerAll(entry, response);
    this.pool.release(entry);
  }

  /** The question no longer counts in its zone, unless only this zone is silent. */
  private releaseZone(entry: InFlight, response: Response): void {
    if (hasUsableRcode(response)) {
      this.zones.recordAnswer(entry.question);
      return;
    }
    const isSilent = entry.errorRcode === NO_ERROR && hasAnsweredOthers(this.upstreams, entry);
    if (entry.isOfZone && !isSilent) this.zones.release(entry.question);
  }
}
