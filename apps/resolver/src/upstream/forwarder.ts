import { hasUsableRcode, Response } from '@weir/dns-wire';
import { ForwardingCount, ForwardingCounts } from '../metrics/forwarding-counts.js';
import { type Exchange, ForwardResult } from '../query/exchange.js';
import type { Question } from '../query/question.js';
import { AttemptRunner, type AttemptOptions } from './attempt-runner.js';
import { InFlightPool, setFailure, type InFlight, NO_ERROR } from './in-flight.js';
import { OVER_SHARE, Share, type ShareOptions, SubscriberShares } from './subscriber-shares.js';
import { SweepTimer, Sweep } from './sweep.js';
import { hasAnsweredOthers } from './upstream-choice.js';
import type { Upstream } from './upstream.js';
import { type ClientEvents, WaitingClients } from './waiting-clients.js';
import { ZoneShares, type ZoneSharesOptions } from './zone-shares.js';

/** Events of a question: `onCompleted` once, then `onResponse` once for each client that still waits. */
export interface ForwardEvents extends ClientEvents {
  /**
   * The question is in flight for a while. @returns whether its clients get an expired answer when they are given an
   * empty response, as if no upstream had answered; then they do not wait any more
   */
  hasStale(question: Question): boolean;
  /**
   * The accepted response to the question, with an RCODE below 16. Without an answer from any upstream the response is
   * empty: the first error that an upstream sent, else SERVFAIL with EDE 22, or with EDE 23 when no upstream could be
   * reached. Question and response are valid until this returns.
   * @param generation of the cache when the question was asked
   */
  onCompleted(question: Question, response: Response, generation: number): void;
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
  /** Where it counts, see `ForwardingCounts`. Default: for itself only. */
  readonly counts?: Float64Array;
  /** Of the cache: each flush raises it. Clients do not wait for answers to questions of an earlier one. Default: 0. */
  readonly generation?: () => number;
}

export const DEFAULT_CAPACITY = 8192;
export const DEFAULT_WAITING_CAPACITY = 16_384;
const DEFAULT_QUERY_TIMEOUT_MS = 3_000;
/** The client response timer of RFC 8767 §5. */
const DEFAULT_STALE_AFTER_MS = 1_800;

/**
 * Asks upstream resolvers. A question is in flight only once: clients that ask the same question meanwhile wait for the
 * same answer. `AttemptRunner` sends the queries.
 */
export class Forwarder {
  /** By `ForwardingCount`. */
  private readonly counts: Float64Array;
  private readonly attempts: AttemptRunner;
  private readonly clients: WaitingClients;
  private readonly pool: InFlightPool;
  private readonly shares: SubscriberShares;
  private readonly zones: ZoneShares;
  private readonly sweep: Sweep;
  private readonly noAnswer = new Response();
  private readonly events: ForwardEvents;
  private readonly nowMs: () => number;
  private readonly generation: () => number;
  private readonly queryTimeoutMs: number;
  private readonly staleAfterMs: number;
  private timer: SweepTimer | null = null;

  constructor(options: ForwarderOptions) {
    const { events, nowMs, queryTimeoutMs = DEFAULT_QUERY_TIMEOUT_MS } = options;
    const { own, upstreams } = new ForwardingCounts(
      options.counts ?? new Float64Array(ForwardingCounts.sizeFor(options.upstreams.length)),
    );
    const { capacity = DEFAULT_CAPACITY, waitingCapacity = DEFAULT_WAITING_CAPACITY } = options;
    this.events = events;
    this.nowMs = nowMs;
    this.counts = own;
    this.generation = options.generation ?? (() => 0);
    this.queryTimeoutMs = queryTimeoutMs;
    this.staleAfterMs = options.staleAfterMs ?? DEFAULT_STALE_AFTER_MS;
    this.pool = new InFlightPool(capacity);
    this.shares = new SubscriberShares([capacity, waitingCapacity], options.share);
    this.zones = new ZoneShares(options.zones);
    this.clients = new WaitingClients(events, waitingCapacity, this.shares, nowMs, own);
    this.attempts = new AttemptRunner(options, upstreams, this.complete.bind(this));
    const onTimeout = this.attempts.onTimeout.bind(this.attempts);
    this.sweep = new Sweep(this.pool, { onTimeout, onLate: this.onLate.bind(this) }, nowMs);
  }

  get upstreams(): readonly Upstream[] {
    return this.attempts.upstreams;
  }

  /** Opens the sockets. An upstream without a route is no error: its sockets are opened later. */
  open(): void {
    for (const { sockets } of this.upstreams) sockets.open(this.nowMs());
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
    while (this.pool.size > 0) this.end(this.pool.at(0));
    for (const upstream of this.upstreams) upstream.close();
  }

  get inFlight(): number {
    return this.pool.size;
  }

  /** Clients that wait for an answer. */
  get waiting(): number {
    return this.counts[ForwardingCount.waiting];
  }

  /** Whether no upstream answers. */
  get allDown(): boolean {
    for (const upstream of this.upstreams) if (!upstream.health.isDown) return false;
    return true;
  }

  /** Whether a client rather gets an expired answer than waits: nobody answers, or has not for long enough. */
  isStaleDue(question: Question): boolean {
    if (this.staleAfterMs === 0 || this.allDown) return true;
    const entry = this.find(question);
    return entry !== null && this.nowMs() >= entry.staleAtMs;
  }

  /**
   * Asks the question for the client of the exchange, or joins it when it is in flight already. No event follows
   * unless the result is `taken`.
   * @param question that of the exchange, or another one that its answer needs
   */
  forward(exchange: Exchange, question: Question): ForwardResult {
    const entry = this.find(question);
    if (entry === null ? this.pool.isFull : this.clients.isFull) {
      this.counts[ForwardingCount.overloads]++;
      return ForwardResult.refused;
    }
    const result =
      entry === null ? this.ask(exchange, question, false) : this.join(entry, exchange);
    if (result === ForwardResult.refused) this.counts[ForwardingCount.overShare]++;
    if (result === ForwardResult.deadZone) this.counts[ForwardingCount.deadZone]++;
    return result;
  }

  /**
   * Asks the question for the cache only, on the account of that client: no client waits, and only `onCompleted`
   * follows.
   * @returns false when it is in flight already, or is not taken
   */
  refresh(exchange: Exchange, question: Question): boolean {
    if (this.pool.isFull || this.find(question) !== null) return false;
    return this.ask(exchange, question, true) === ForwardResult.taken;
  }

  /** Sends the queries that wait. */
  flush(): void {
    for (const { batches } of this.upstreams) batches?.flush();
  }

  /** Takes a batch of answers from that UDP socket. @returns how many packets came */
  receive(fd: number): number {
    return this.attempts.sockets.receive(fd);
  }

  /** Whether an answer is expected. */
  get isWaiting(): boolean {
    return this.pool.size > 0 || this.attempts.hasOpenProbe;
  }

  /** Whether a client waits for an answer over TCP or TLS. */
  get isWaitingForStreams(): boolean {
    return this.pool.size > 0 && this.attempts.isWaitingForStreams;
  }

  /** Whether work in pieces goes on in the next turn of the event loop. */
  get hasPieces(): boolean {
    return this.clients.hasPieces || this.sweep.hasPieces;
  }

  /** The question in flight that new clients may wait for. One from before a flush is not found any more. */
  private find(question: Question): InFlight | null {
    const entry = this.pool.find(question);
    if (entry === null || entry.generation === this.generation()) return entry;
    this.pool.hide(entry);
    return null;
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
    this.counts[ForwardingCount.inFlight] = this.pool.size;
    entry.generation = this.generation();
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
    this.end(entry);
    this.shares.release(entry.exchange.account, Share.questions);
    this.releaseZone(entry, response);
    this.events.onCompleted(entry.question, response, entry.generation);
    this.clients.answerAll(entry, response);
    this.pool.release(entry);
  }

  private end(entry: InFlight): void {
    this.pool.end(entry);
    this.counts[ForwardingCount.inFlight] = this.pool.size;
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
