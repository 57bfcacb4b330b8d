import type { Response } from '@weir/dns-wire';
import type { Exchange } from '../query/exchange.js';
import type { Question } from '../query/question.js';
import type { InFlight } from './in-flight.js';
import { InFlightPool } from './in-flight-pool.js';
import { Tries, type TriesOptions } from './tries.js';
import type { Upstream } from './upstream.js';
import { type ClientOutcome, WaitingClients } from './waiting-clients.js';

/** What becomes of a question: `onSettled` once, then `onResponse` once for each client that waits. */
export interface ForwardOutcome extends ClientOutcome {
  /**
   * The believed response to the question, with an RCODE below 16. Where no upstream had an answer it is an empty one: the error of the
   * first that sent one, else SERVFAIL with EDE 22, or 23 when none could even be asked. Both are good until this returns.
   */
  onSettled(question: Question, response: Response): void;
}

export interface ForwarderOptions extends TriesOptions {
  readonly outcome: ForwardOutcome;
  /** Most questions that upstreams are asked at once. */
  readonly capacity?: number;
  /** Most clients that wait for the answer to a question of another client. */
  readonly waitingCapacity?: number;
  /** How long all tries of a question together may last. */
  readonly patienceMs?: number;
}

const DEFAULT_CAPACITY = 8192;
const DEFAULT_WAITING_CAPACITY = 16_384;
const DEFAULT_PATIENCE_MS = 3_000;
const SWEEP_MS = 25;

/** Asks upstream resolvers, each question once at a time: clients that ask the same meanwhile wait for the same answer. How it is asked is `Tries`. */
export class Forwarder {
  /** Queries turned away because too many were in flight. */
  overloads = 0;
  private readonly tries: Tries;
  private readonly clients: WaitingClients;
  private readonly pool: InFlightPool;
  private readonly outcome: ForwardOutcome;
  private readonly nowMs: () => number;
  private readonly patienceMs: number;
  private timer: NodeJS.Timeout | undefined;

  constructor(options: ForwarderOptions) {
    const { outcome, nowMs, patienceMs = DEFAULT_PATIENCE_MS } = options;
    const { capacity = DEFAULT_CAPACITY, waitingCapacity = DEFAULT_WAITING_CAPACITY } = options;
    this.outcome = outcome;
    this.nowMs = nowMs;
    this.patienceMs = patienceMs;
    this.pool = new InFlightPool(capacity);
    this.clients = new WaitingClients(outcome, waitingCapacity);
    this.tries = new Tries(options, this.settle.bind(this));
  }

  get upstreams(): readonly Upstream[] {
    return this.tries.upstreams;
  }

  /** Opens the sockets. An upstream without a route is no error: it is tried again later. */
  async open(): Promise<void> {
    await Promise.all(this.upstreams.map((upstream) => upstream.open(this.nowMs())));
    this.timer = setInterval(() => {
      this.sweep();
    }, SWEEP_MS);
  }

  /** Ends; what is in flight is forgotten without an outcome. */
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

  /** Asks the exchange's question, or waits with who asks it already. @returns false when too many are in flight; there is no outcome then. */
  forward(exchange: Exchange): boolean {
    const entry = this.pool.find(exchange);
    const isTaken =
      entry === null ? this.ask(exchange, false) : this.clients.share(entry, exchange);
    if (!isTaken) this.overloads++;
    return isTaken;
  }

  /** Asks the exchange's question for nobody: only `onSettled` follows. @returns false when it is asked already or too many are in flight. */
  renew(exchange: Exchange): boolean {
    return this.pool.find(exchange) === null && this.ask(exchange, true);
  }

  private ask(exchange: Exchange, isForNobody: boolean): boolean {
    const entry = this.pool.take(exchange);
    if (entry === null) return false;
    entry.isForNobody = isForNobody;
    this.clients.begin(entry);
    entry.deadlineMs = this.nowMs() + this.patienceMs;
    this.tries.begin(entry);
    return true;
  }

  /** The question has its outcome; all who wait get it. */
  private settle(entry: InFlight, response: Response): void {
    this.pool.end(entry);
    this.outcome.onSettled(entry.exchange, response);
    this.clients.tellAll(entry, response);
    this.pool.release(entry);
  }

  private sweep(): void {
    const nowMs = this.nowMs();
    for (let i = this.pool.size - 1; i >= 0; i--) this.tries.look(this.pool.at(i), nowMs);
    for (const upstream of this.upstreams) upstream.maintain(nowMs);
  }
}
