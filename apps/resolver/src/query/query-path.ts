import {
  Ede,
  Flag,
  FLAGS_OFFSET,
  isAboutName,
  MAX_MESSAGE_BYTES,
  parseQuery,
  QueryStatus,
  Rcode,
  type Response,
  writeAnyAnswer,
  writeBlockAnswer,
  writeEmptyAnswer,
  writeForwardedAnswer,
} from '@weir/dns-wire';
import { Reason, type Verdict } from '@weir/policy';
import type { BlockPages } from '../answer/block-pages.js';
import { Action, Passage, type QueryJudge } from '../decision/query-judge.js';
import type { ClientLimits } from '../limits/client-limits.js';
import { type LatencyHistogram, Source } from '../metrics/latency-histogram.js';
import { Dropped, NO_VERDICT, type QueryCounters, Transport } from '../metrics/query-counters.js';
import { type AnswerCache, Found } from '../cache/answer-cache.js';
import { writeSpecialAnswer } from '../special/special-answer.js';
import { Special } from '../special/zones.js';
import type { ForwardOutcome } from '../upstream/forwarder.js';
import type { Exchange } from './exchange.js';
import type { Question } from './question.js';

/** Who asks upstreams; `Forwarder`. */
export interface UpstreamAccess {
  readonly allDown: boolean;
  forward(exchange: Exchange): boolean;
  renew(exchange: Exchange): boolean;
}

/** Who takes the queries that listeners have read. */
export interface QueryHandler {
  /** Takes the query in `exchange.bytes`; the answer goes its `replyPath`, now or later. Keeps nothing of the exchange. */
  handle(exchange: Exchange): void;
}

export interface QueryPathOptions {
  readonly judge: QueryJudge;
  readonly pages: BlockPages;
  readonly blockTtlSeconds: number;
  readonly cache: AnswerCache;
  readonly upstream: () => UpstreamAccess;
  /** Clock of the cache in whole seconds; it never goes back. */
  readonly nowSeconds: () => number;
  readonly limits: ClientLimits;
  readonly counters: QueryCounters;
  readonly latencies: LatencyHistogram;
  /** Clock in milliseconds for the latencies; it never goes back. */
  readonly nowMs: () => number;
  /** Told of a defect in handling a query, which is then dropped: the others must be answered. */
  readonly onDefect: (error: unknown) => void;
}

const ANY_TTL_SECONDS = 3600;
/** Of the answers that wait for nobody the time of one in so many is taken, and stands for all: the clock costs more than a lookup. */
const SAMPLING = 8;
const NO_ADDRESSES = new Uint8Array(0);

/** The path of every query: read it, decide, then block, refuse, answer from the cache or forward it; and what comes back from upstream. */
export class QueryPath implements QueryHandler, ForwardOutcome {
  private readonly out = new Uint8Array(MAX_MESSAGE_BYTES);
  private source: Source = Source.local;
  private untilSample = 1;

  constructor(private readonly options: QueryPathOptions) {}

  handle(exchange: Exchange): void {
    try {
      this.take(exchange);
    } catch (error) {
      this.drop(exchange, error);
    }
  }

  onSettled(question: Question, response: Response | null): void {
    const { cache, onDefect } = this.options;
    try {
      const nowSeconds = this.nowSeconds();
      if (response !== null) cache.keep(question, response, nowSeconds);
      else cache.keepFailure(question, Rcode.servFail, Ede.noReachableAuthority, nowSeconds);
    } catch (error) {
      // The clients are to be answered all the same.
      onDefect(error);
    }
  }

  onResponse(exchange: Exchange, response: Response): void {
    try {
      this.takeResponse(exchange, response);
    } catch (error) {
      this.drop(exchange, error);
    }
  }

  onFailure(exchange: Exchange): void {
    try {
      this.takeFailure(exchange);
    } catch (error) {
      this.drop(exchange, error);
    }
  }

  private drop(exchange: Exchange, error: unknown): void {
    this.options.counters.drop(Dropped.defect);
    this.options.onDefect(error);
    exchange.replyPath.drop();
  }

  private take(exchange: Exchange): void {
    this.source = Source.local;
    this.sample(exchange);
    const { limits } = this.options;
    if (limits.isOverQueries(exchange.client)) return this.dropLimited(exchange);
    const status = parseQuery(exchange.bytes, exchange.length, exchange.query);
    if (status === QueryStatus.drop) {
      this.options.counters.drop(Dropped.malformed);
      exchange.replyPath.drop();
    } else if (status === QueryStatus.ok) {
      this.answer(exchange);
    } else {
      this.replyError(exchange, status, NO_VERDICT);
    }
  }

  private takeResponse(exchange: Exchange, response: Response): void {
    this.source = Source.upstream;
    // The configuration may have changed while the upstream was asked: the one in force now decides.
    const action = this.options.judge.judgeQuery(exchange);
    if (action !== Action.resolve) return this.act(exchange, action);
    if (!isAboutName(response) && this.replyStale(exchange)) return;
    this.replyJudged(exchange, response);
  }

  private takeFailure(exchange: Exchange): void {
    this.source = Source.upstream;
    const action = this.options.judge.judgeQuery(exchange);
    if (action !== Action.resolve) return this.act(exchange, action);
    if (this.replyStale(exchange)) return;
    this.replyDecided(exchange, Rcode.servFail, Ede.noReachableAuthority);
  }

  private answer(exchange: Exchange): void {
    const action = this.options.judge.judgeQuery(exchange);
    if (action === Action.resolve) this.resolve(exchange);
    else this.act(exchange, action);
  }

  /** From the cache; from upstream what is not there or has expired, in which case the old answer is for want of a new one. */
  private resolve(exchange: Exchange): void {
    const { cache } = this.options;
    const { query } = exchange;
    const found = cache.find(exchange, this.nowSeconds());
    this.source = Source.cached;
    if (found === Found.fresh) return this.replyJudged(exchange, cache.read(query));
    if (found === Found.ageing) {
      const response = cache.read(query);
      cache.renewing();
      this.upstream.renew(exchange);
      return this.replyJudged(exchange, response);
    }
    // Without recursion there is only what is known here.
    if (!query.recursionDesired) {
      this.source = Source.local;
      return this.replyDecided(exchange, Rcode.refused, Ede.none);
    }
    if (found === Found.failing) return this.replyJudged(exchange, cache.readStale(query));
    if (found === Found.stale && this.upstream.allDown) {
      const response = cache.readStale(query);
      this.upstream.renew(exchange);
      return this.replyJudged(exchange, response);
    }
    this.source = Source.upstream;
    if (exchange.startedMs === 0) exchange.startedMs = this.options.nowMs();
    if (!this.upstream.forward(exchange)) {
      this.replyDecided(exchange, Rcode.servFail, Ede.other);
    }
  }

  /** Answers with what has expired (RFC 8767). @returns false when there is nothing. */
  private replyStale(exchange: Exchange): boolean {
    const { cache } = this.options;
    if (!cache.findStale(exchange, this.nowSeconds())) return false;
    this.replyJudged(exchange, cache.readStale(exchange.query));
    return true;
  }

  /** The one way from a response to the client, wherever it is from: its targets are judged for this client, now. */
  private replyJudged(exchange: Exchange, response: Response): void {
    switch (this.options.judge.judgeTargets(response)) {
      case Passage.pass:
        return this.replyForwarded(exchange, response);
      case Passage.block:
        return this.replyBlock(exchange);
      case Passage.malformed:
        return this.replyDecided(exchange, Rcode.servFail, Ede.none);
    }
  }

  private get upstream(): UpstreamAccess {
    return this.options.upstream();
  }

  private nowSeconds(): number {
    return this.options.nowSeconds();
  }

  /** Everything that needs neither cache nor upstream. */
  private act(exchange: Exchange, action: Exclude<Action, typeof Action.resolve>): void {
    switch (action) {
      case Action.refuse:
        return this.replyError(exchange, Rcode.refused, this.options.judge.decision.verdict);
      case Action.notReady:
        return this.replyEmpty(exchange, Rcode.servFail, Ede.notReady, NO_VERDICT);
      case Action.block:
        return this.replyBlock(exchange);
      case Action.answerAny:
        return this.replyAny(exchange);
      case Action.answerSpecial:
        return this.replySpecial(exchange);
    }
  }

  private replyBlock(exchange: Exchange): void {
    const { judge, pages, blockTtlSeconds } = this.options;
    const { decision } = judge;
    if (this.source !== Source.upstream) this.source = Source.blocked;
    const page = pages.addressesOf(decision.pageId);
    const isEmpty = decision.emptyDnsAnswer;
    const length = writeBlockAnswer(
      this.out,
      exchange.bytes,
      exchange.query,
      isEmpty ? NO_ADDRESSES : page.ipv4,
      isEmpty ? NO_ADDRESSES : page.ipv6,
      Math.min(blockTtlSeconds, decision.ttlCapSeconds),
    );
    this.send(exchange, length, decision.verdict, Rcode.noError);
  }

  private replyAny(exchange: Exchange): void {
    const { decision } = this.options.judge;
    const ttlSeconds = Math.min(ANY_TTL_SECONDS, decision.ttlCapSeconds);
    const length = writeAnyAnswer(this.out, exchange.bytes, exchange.query, ttlSeconds);
    this.send(exchange, length, decision.verdict, Rcode.noError);
  }

  private replySpecial(exchange: Exchange): void {
    const { decision, special, specialOffset } = this.options.judge;
    if (special === Special.none) throw new Error('an answer for a name that is not special');
    const { bytes, query } = exchange;
    const { ttlCapSeconds } = decision;
    const length = writeSpecialAnswer(
      this.out,
      bytes,
      query,
      special,
      specialOffset,
      ttlCapSeconds,
    );
    this.send(exchange, length, decision.verdict, this.out[FLAGS_OFFSET + 1] & Flag.rcode);
  }

  private replyForwarded(exchange: Exchange, response: Response): void {
    const { decision } = this.options.judge;
    const { bytes, query, replyPath } = exchange;
    const limit = replyPath.limit(query);
    const { ttlCapSeconds } = decision;
    const length = writeForwardedAnswer(this.out, response, bytes, query, limit, ttlCapSeconds);
    this.send(exchange, length, decision.verdict, response.rcode);
  }

  /** An answer to somebody who may not be who he says he is: over UDP there are only so many. */
  private replyError(
    exchange: Exchange,
    rcode: number,
    verdict: Verdict | typeof NO_VERDICT,
  ): void {
    const { limits } = this.options;
    const isUdp = exchange.replyPath.transport === Transport.udp;
    if (isUdp && limits.isOverErrors(exchange.client)) return this.dropLimited(exchange);
    this.replyEmpty(exchange, rcode, Ede.none, verdict);
  }

  private dropLimited(exchange: Exchange): void {
    this.options.counters.drop(Dropped.limited);
    exchange.replyPath.drop();
  }

  private replyDecided(exchange: Exchange, rcode: number, ede: number): void {
    this.replyEmpty(exchange, rcode, ede, this.options.judge.decision.verdict);
  }

  private replyEmpty(
    exchange: Exchange,
    rcode: number,
    ede: number,
    verdict: Verdict | typeof NO_VERDICT,
  ): void {
    const length = writeEmptyAnswer(this.out, exchange.bytes, exchange.query, rcode, ede);
    this.send(exchange, length, verdict, rcode);
  }

  private sample(exchange: Exchange): void {
    exchange.startedMs = 0;
    if (--this.untilSample > 0) return;
    this.untilSample = SAMPLING;
    exchange.startedMs = this.options.nowMs();
  }

  private observe(exchange: Exchange): void {
    const { latencies, nowMs } = this.options;
    const weight = this.source === Source.upstream ? 1 : SAMPLING;
    latencies.observe(this.source, nowMs() - exchange.startedMs, weight);
  }

  private send(
    exchange: Exchange,
    length: number,
    verdict: Verdict | typeof NO_VERDICT,
    rcode: number,
  ): void {
    const { judge, counters } = this.options;
    const { replyPath, query } = exchange;
    const reason = verdict === NO_VERDICT ? Reason.none : judge.decision.reason;
    counters.answered(replyPath.transport, query.qtype, verdict, reason, rcode);
    if (exchange.startedMs !== 0) this.observe(exchange);
    replyPath.reply(exchange, this.out, length);
  }
}
