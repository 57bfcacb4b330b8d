import {
  answersQuestion,
  Ede,
  isAboutName,
  parseResponse,
  Rcode,
  Response,
  setEmptyResponse,
  writeUpstreamQuery,
} from '@weir/dns-wire';
import type { Endpoint } from '@weir/ops';
import type { Exchange } from '../query/exchange.js';
import { type InFlight, InFlightPool, MAX_TRIES, NO_REFUSAL } from './in-flight.js';
import type { Question } from '../query/question.js';
import { RandomIds } from './random-ids.js';
import { Upstream } from './upstream.js';
import { chooseUntried, chooseUpstream, hasHope } from './upstream-choice.js';
import type { UpstreamSocket } from './upstream-socket.js';
import { type ClientOutcome, WaitingClients } from './waiting-clients.js';

/** What becomes of a question: `onSettled` once, then `onResponse` once for each client that waits. */
export interface ForwardOutcome extends ClientOutcome {
  /**
   * The believed response to the question, with an RCODE below 16. Where no upstream had an answer it is an empty one: the error of the
   * first that sent one, else SERVFAIL with EDE 22, or 23 when none could even be asked. Both are good until this returns.
   */
  onSettled(question: Question, response: Response): void;
}

export interface ForwarderOptions {
  readonly upstreams: readonly Endpoint[];
  readonly outcome: ForwardOutcome;
  readonly nowMs: () => number;
  /** Most questions that upstreams are asked at once. */
  readonly capacity?: number;
  /** Most clients that wait for the answer to a question of another client. */
  readonly waitingCapacity?: number;
  /** How long one try may last before the next begins, and all of them together, at most and once there was an error. */
  readonly tryMs?: number;
  readonly patienceMs?: number;
  readonly refusedPatienceMs?: number;
  /** Told when an upstream has stopped answering and when it answers again. */
  readonly onState?: (upstream: Upstream, answers: boolean) => void;
}

const DEFAULT_CAPACITY = 8192;
const DEFAULT_WAITING_CAPACITY = 16_384;
const DEFAULT_TRY_MS = 500;
const DEFAULT_PATIENCE_MS = 3_000;
/** How long a question may last once an upstream has answered it with an error: others may know better, but not at the price of the client's patience. */
const DEFAULT_REFUSED_PATIENCE_MS = 1_500;
const SWEEP_MS = 25;
const MAX_TCP_QUERIES = 256;
const MAX_PLAIN_RCODE = 15;

/**
 * Asks upstream resolvers. Clients that ask the same at the same time share one question. It is tried at up to three upstreams, those
 * that answer first; the next try begins when one was silent for a while, is out of reach, or has an error instead of an answer. A reply is believed only if it comes from the address and port that were asked, to the port and
 * with the id that were drawn at random, and answers the question (RFC 5452 §9.1). A truncated one is asked for again over TCP.
 */
export class Forwarder {
  readonly upstreams: readonly Upstream[];
  /** Queries turned away because too many were in flight. */
  overloads = 0;
  private readonly clients: WaitingClients;
  private readonly pool: InFlightPool;
  private readonly ids = new RandomIds();
  private readonly response = new Response();
  private tcpQueries = 0;
  private readonly outcome: ForwardOutcome;
  private readonly nowMs: () => number;
  private readonly tryMs: number;
  private readonly patienceMs: number;
  private readonly refusedPatienceMs: number;
  private timer: NodeJS.Timeout | undefined;

  constructor(options: ForwarderOptions) {
    this.outcome = options.outcome;
    this.nowMs = options.nowMs;
    this.tryMs = options.tryMs ?? DEFAULT_TRY_MS;
    this.clients = new WaitingClients(
      options.outcome,
      options.waitingCapacity ?? DEFAULT_WAITING_CAPACITY,
    );
    this.patienceMs = options.patienceMs ?? DEFAULT_PATIENCE_MS;
    this.refusedPatienceMs = options.refusedPatienceMs ?? DEFAULT_REFUSED_PATIENCE_MS;
    this.pool = new InFlightPool(options.capacity ?? DEFAULT_CAPACITY);
    const events = {
      onPacket: this.onPacket.bind(this),
      onUnreachable: this.onUnreachable.bind(this),
    };
    const onState = options.onState ?? (() => undefined);
    this.upstreams = options.upstreams.map(
      (endpoint, index) => new Upstream(index, endpoint, this.ids, events, onState),
    );
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
    const nowMs = this.nowMs();
    entry.deadlineMs = nowMs + this.patienceMs;
    // Who cannot even be asked fails at the next sweep: nobody hears of an outcome before this returns.
    if (!this.tryNext(entry)) entry.tryDeadlineMs = nowMs;
    return true;
  }

  /** The question has its outcome; all who wait get it. */
  private settle(entry: InFlight, response: Response): void {
    this.pool.end(entry);
    this.outcome.onSettled(entry.exchange, response);
    this.clients.tellAll(entry, response);
    this.pool.release(entry);
  }

  /** Begins the next try, or goes on waiting for one that may still succeed. @returns false when there is nothing to wait for */
  private tryNext(entry: InFlight): boolean {
    const nowMs = this.nowMs();
    while (entry.tries < MAX_TRIES && nowMs < entry.deadlineMs) {
      const upstream = this.choose(entry, nowMs);
      if (upstream === null) break;
      const socket = upstream.socket();
      const attempt = entry.beginTry(upstream.index, socket, nowMs);
      if (socket === null) {
        upstream.failed(nowMs);
        continue;
      }
      const isLast = entry.tries === MAX_TRIES;
      entry.tryDeadlineMs = isLast ? entry.deadlineMs : nowMs + this.tryMs;
      const { bytes, query } = entry.exchange;
      entry.packetLength = writeUpstreamQuery(entry.packet, bytes, query, entry.ids[attempt]);
      upstream.asked(nowMs);
      socket.send(entry.packet, entry.packetLength);
      return true;
    }
    entry.tryDeadlineMs = entry.deadlineMs;
    return nowMs < entry.deadlineMs && hasHope(this.upstreams, entry, nowMs);
  }

  /** Who has sent an error is not asked again, nor who does not answer: the error is better than to wait for them. */
  private choose(entry: InFlight, nowMs: number): Upstream | null {
    if (entry.refusalRcode === NO_REFUSAL) return chooseUpstream(this.upstreams, entry, nowMs);
    return chooseUntried(this.upstreams, entry, nowMs);
  }

  private giveUp(entry: InFlight): void {
    const { response } = this;
    const { bytes, query } = entry.exchange;
    if (entry.refusalRcode !== NO_REFUSAL) {
      setEmptyResponse(response, bytes, query, entry.refusalRcode, entry.refusalEde);
    } else {
      const ede = entry.hasOpenTry ? Ede.noReachableAuthority : Ede.networkError;
      setEmptyResponse(response, bytes, query, Rcode.servFail, ede);
    }
    this.settle(entry, response);
  }

  private onPacket(socket: UpstreamSocket, packet: Uint8Array): void {
    const { response } = this;
    const isSound = parseResponse(packet, packet.length, response);
    const entry = isSound ? socket.find(response.id) : undefined;
    if (entry === undefined || !this.isAnswerTo(entry)) {
      this.upstreams[socket.upstream].counters.strays++;
      return;
    }
    const attempt = entry.tryOf(socket, response.id);
    if (response.isTruncated) this.askOverTcp(entry, attempt);
    else this.take(entry, attempt);
  }

  private isAnswerTo({ exchange }: InFlight): boolean {
    return answersQuestion(this.response, exchange.bytes, exchange.query);
  }

  /** `this.response` answers the entry. An extended RCODE is about EDNS between us and the upstream, so no answer for the client. */
  private take(entry: InFlight, attempt: number): void {
    const { response } = this;
    if (response.rcode > MAX_PLAIN_RCODE) {
      this.failTry(entry, attempt);
      return;
    }
    const upstream = this.upstreams[entry.upstreams[attempt]];
    const nowMs = this.nowMs();
    upstream.took(nowMs - entry.startedMs[attempt], nowMs);
    upstream.succeeded();
    if (isAboutName(response)) this.settle(entry, response);
    else this.takeRefusal(entry, attempt);
  }

  /** `this.response` is an error such as SERVFAIL or REFUSED: it is passed on only if nobody else knows better in time. */
  private takeRefusal(entry: InFlight, attempt: number): void {
    this.upstreams[entry.upstreams[attempt]].counters.refusals++;
    if (entry.refusalRcode === NO_REFUSAL) {
      entry.refusalRcode = this.response.rcode;
      entry.refusalEde = this.response.ede;
      entry.hurry(entry.startedMs[0] + this.refusedPatienceMs);
    }
    this.endTry(entry, attempt);
  }

  private askOverTcp(entry: InFlight, attempt: number): void {
    const upstream = this.upstreams[entry.upstreams[attempt]];
    entry.leaveSocket(attempt);
    if (this.tcpQueries >= MAX_TCP_QUERIES) {
      this.failTry(entry, attempt);
      return;
    }
    upstream.counters.overTcp++;
    entry.tryDeadlineMs = entry.deadlineMs;
    const { generation } = entry;
    const { bytes, query } = entry.exchange;
    const packet = new Uint8Array(entry.packet.length);
    const length = writeUpstreamQuery(packet, bytes, query, 0);
    const restMs = Math.max(entry.deadlineMs - this.nowMs(), 1);
    this.tcpQueries++;
    upstream.tcp.ask(packet.subarray(0, length), restMs, (message) => {
      this.tcpQueries--;
      if (entry.generation !== generation) return;
      const { response } = this;
      const isSound = message !== null && parseResponse(message, message.length, response);
      if (isSound && !response.isTruncated && this.isAnswerTo(entry)) this.take(entry, attempt);
      else this.failTry(entry, attempt);
    });
  }

  private failTry(entry: InFlight, attempt: number): void {
    const upstream = this.upstreams[entry.upstreams[attempt]];
    upstream.counters.failures++;
    upstream.failed(this.nowMs());
    this.endTry(entry, attempt);
  }

  /** The try has brought nothing. The next begins unless a later one goes on already. */
  private endTry(entry: InFlight, attempt: number): void {
    entry.endTry(attempt);
    if (!entry.isOpen(entry.tries - 1) && !this.tryNext(entry)) this.giveUp(entry);
  }

  private onUnreachable(socket: UpstreamSocket): void {
    for (const entry of socket.waitingEntries()) {
      // A try that begins in this loop has not failed, even if it uses the same socket.
      const { tries } = entry;
      for (let i = 0; i < tries; i++) {
        if (entry.sockets[i] === socket) this.failTry(entry, i);
      }
    }
  }

  private sweep(): void {
    const nowMs = this.nowMs();
    for (let i = this.pool.size - 1; i >= 0; i--) {
      const entry = this.pool.at(i);
      if (nowMs < entry.tryDeadlineMs) continue;
      if (entry.isOpen(entry.tries - 1)) this.countTimeout(entry, nowMs);
      if (!this.tryNext(entry)) this.giveUp(entry);
    }
    for (const upstream of this.upstreams) upstream.maintain(nowMs);
  }

  /** The last try of the entry was given up for slow; an answer still counts. */
  private countTimeout(entry: InFlight, nowMs: number): void {
    const last = entry.tries - 1;
    const upstream = this.upstreams[entry.upstreams[last]];
    upstream.counters.timeouts++;
    // The last try of all lasts longer than others, which says nothing about the upstream.
    upstream.took(Math.min(nowMs - entry.startedMs[last], this.tryMs), nowMs);
    upstream.failed(nowMs);
  }
}
