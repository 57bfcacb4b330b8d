import type { Response } from '@weir/dns-wire';
import type { Exchange } from '../query/exchange.js';
import type { Question } from '../query/question.js';
import type { InFlight } from './in-flight.js';
import { InFlightPool } from './in-flight-pool.js';
import { AttemptRunner, type AttemptOptions } from './attempt-runner.js';
import type { Upstream } from './upstream.js';
import { type ClientEvents, WaitingClients } from './waiting-clients.js';

/** What becomes of a question: `onCompleted` once, then `onResponse` once for each client that waits. */
export interface ForwardEvents extends ClientEvents {
  /**
   * The believed response to the question, with an RCODE below 16. Where no upstream had an answer it is an empty one: the error of the
   * first that sent one, else SERVFAIL with EDE 22, or 23 when none could even be asked. Both are good until this returns.
   */
  onCompleted(question: Question, response: Response): void;
}

export interface ForwarderOptions extends AttemptOptions {
  readonly events: ForwardEvents;
  /** Most questions that upstreams are asked at once. */
  readonly capacity?: number;
  /** Most clients that wait for the answer to a question of another client. */
  readonly waitingCapacity?: number;
  /** How long all attempts of a question together may last. */
  readonly queryTimeoutMs?: number;
}

const DEFAULT_CAPACITY = 8192;
const DEFAULT_WAITING_CAPACITY = 16_384;
const DEFAULT_QUERY_TIMEOUT_MS = 3_000;
const SWEEP_MS = 25;

/** Asks upstream resolvers, each question once at a time: clients that ask the same meanwhile wait for the same answer. How it is asked is `AttemptRunner`. */
export class Forwarder {
  /** Queries turned away because too many were in flight. */
  overloads = 0;
  private readonly attempts: AttemptRunner;
  private readonly clients: WaitingClients;
  private readonly pool: InFlightPool;
  private readonly events: ForwardEvents;
  private readonly nowMs: () => number;
  private readonly queryTimeoutMs: number;
  private timer: NodeJS.Timeout | undefined;

  constructor(options: ForwarderOptions) {
    const { events, nowMs, queryTimeoutMs = DEFAULT_QUERY_TIMEOUT_MS } = options;
    const { capacity = DEFAULT_CAPACITY, waitingCapacity = DEFAULT_WAITING_CAPACITY } = options;
    this.events = events;
    this.nowMs = nowMs;
    this.queryTimeoutMs = queryTimeoutMs;
    this.pool = new InFlightPool(capacity);
    this.clients = new WaitingClients(events, waitingCapacity);
    this.attempts = new AttemptRunner(options, this.complete.bind(this));
  }

  get upstreams(): readonly Upstream[] {
    return this.attempts.upstreams;
  }

  /** Opens the sockets. An upstream without a route is no error: it is tried again later. */
  async open(): Promise<void> {
    await Promise.all(this.upstreams.map((upstream) => upstream.open(this.nowMs())));
    this.timer = setInterval(() => {
      this.sweep();
    }, SWEEP_MS);
  }

  /** Ends; what is in flight is forgotten without an events. */
  close(): void {
    clearInterval(this.timer);
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

  /** Queries that shared a question already in flight. */
  get coalesced(): number {
    return this.clients.coalesced;
  }

  /** Whether no upstream has answered of late, so that there is little to wait for. */
  get allDown(): boolean {
    const nowMs = this.nowMs();
    for (const upstream of this.upstreams) if (!upstream.isDown(nowMs)) return false;
    return true;
  }

  /** Asks the exchange's question, or waits with who asks it already. @returns false when too many are in flight; there is no events then. */
  forward(exchange: Exchange): boolean {
    const entry = this.pool.find(exchange);
    const isAccepted =
      entry === null ? this.ask(exchange, false) : this.clients.join(entry, exchange);
    if (!isAccepted) this.overloads++;
    return isAccepted;
  }

  /** Asks the exchange's question for nobody: only `onCompleted` follows. @returns false when it is asked already or too many are in flight. */
  refresh(exchange: Exchange): boolean {
    return this.pool.find(exchange) === null && this.ask(exchange, true);
  }

  private ask(exchange: Exchange, isRefresh: boolean): boolean {
    const entry = this.pool.take(exchange);
    if (entry === null) return false;
    entry.isRefresh = isRefresh;
    this.clients.add(entry);
    entry.deadlineMs = this.nowMs() + this.queryTimeoutMs;
    this.attempts.start(entry);
    return true;
  }

  /** The question has its events; all who wait get it. */
  private complete(entry: InFlight, response: Response): void {
    this.pool.end(entry);
    this.events.onCompleted(entry.exchange, response);
    this.clients.answerAll(entry, response);
    this.pool.release(entry);
  }

  private sweep(): void {
    const nowMs = this.nowMs();
    for (let i = this.pool.size - 1; i >= 0; i--)
      this.attempts.checkTimeout(this.pool.at(i), nowMs);
    for (const upstream of this.upstreams) upstream.maintain(nowMs);
  }
}
