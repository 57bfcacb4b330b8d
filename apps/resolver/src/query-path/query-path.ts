import {
  CLASS_IN,
  Ede,
  hasUsableRcode,
  parseQuery,
  QueryStatus,
  Rcode,
  type Response,
} from '@weir/dns-wire';
import { type AnswerCache, CacheResult } from '../cache/answer-cache.js';
import { Action } from '../decision/action.js';
import type { QueryDecider } from '../decision/query-decider.js';
import { type TargetInspector, TargetVerdict } from '../decision/target-inspector.js';
import type { ServerCookies } from '../limits/server-cookies.js';
import type { LatencyHistogram } from '../metrics/latency-histogram.js';
import { AnswerSource } from '../query/answer-source.js';
import { NO_VERDICT } from '../metrics/query-counters.js';
import { DropReason } from '../query/drop-reason.js';
import { Transport } from '../query/transport.js';
import { QueryTimer } from '../metrics/query-timer.js';
import type { ForwardEvents } from '../upstream/forwarder.js';
import type { Exchange } from '../query/exchange.js';
import type { Question } from '../query/question.js';
import type { QueryHandler } from '../query/query-handler.js';
import { Replies, type RepliesOptions } from './replies.js';

/** Who asks upstreams; `Forwarder`. */
export interface UpstreamAccess {
  readonly allDown: boolean;
  forward(exchange: Exchange): boolean;
  refresh(exchange: Exchange): boolean;
}

export interface QueryPathOptions extends Omit<
  RepliesOptions,
  'decision' | 'specialMatch' | 'timer'
> {
  readonly decider: QueryDecider;
  readonly targetInspector: TargetInspector;
  readonly cookies: ServerCookies;
  readonly cache: AnswerCache;
  readonly upstream: () => UpstreamAccess;
  /** Clock of the cache in whole seconds; it never goes back. */
  readonly nowSeconds: () => number;
  readonly latencies: LatencyHistogram;
  /** Clock in milliseconds for the latencies; it never goes back. */
  readonly nowMs: () => number;
  /** Told of a defect in handling a query, which is then dropped: the others must be answered. */
  readonly onDefect: (error: unknown) => void;
}

/** The path of every query: read it, decide, then block, refuse, answer from the cache or forward it; and what comes back from upstream. */
export class QueryPath implements QueryHandler, ForwardEvents {
  private readonly timer: QueryTimer;
  private readonly replies: Replies;

  constructor(private readonly options: QueryPathOptions) {
    this.timer = new QueryTimer(options.latencies, options.nowMs);
    const { decision, specialMatch } = options.decider;
    this.replies = new Replies({ ...options, decision, specialMatch, timer: this.timer });
  }

  handle(exchange: Exchange): void {
    try {
      this.handleQuery(exchange);
    } catch (error) {
      this.drop(exchange, error);
    }
  }

  onCompleted(question: Question, response: Response): void {
    const { cache, onDefect } = this.options;
    try {
      cache.put(question, response, this.nowSeconds());
    } catch (error) {
      // The clients are to be answered all the same.
      onDefect(error);
    }
  }

  onResponse(exchange: Exchange, response: Response): void {
    try {
      this.handleResponse(exchange, response);
    } catch (error) {
      this.drop(exchange, error);
    }
  }

  private drop(exchange: Exchange, error: unknown): void {
    this.options.onDefect(error);
    this.replies.drop(exchange, DropReason.defect);
  }

  private handleQuery(exchange: Exchange): void {
    const { replies } = this;
    this.timer.start(exchange);
    if (this.options.limits.exceedsQueryRate(exchange.client)) {
      return replies.drop(exchange, DropReason.limited);
    }
    const { query } = exchange;
    const status = parseQuery(exchange.bytes, exchange.length, query);
    if (status === QueryStatus.drop) return replies.drop(exchange, DropReason.malformed);
    query.isAnswerPadded = query.hasPadding && exchange.replyPath.transport >= Transport.tls;
    if (query.cookieBytes > 0) this.options.cookies.process(query, exchange.client);
    if (status === QueryStatus.ok) this.answer(exchange);
    else if (status === QueryStatus.cookieOnly) replies.sendCookie(exchange);
    else replies.sendError(exchange, status, Ede.none, NO_VERDICT);
  }

  private handleResponse(exchange: Exchange, response: Response): void {
    this.timer.source = AnswerSource.upstream;
    // The configuration may have changed while the upstream was asked: the one in force now decides.
    const action = this.options.decider.decide(exchange);
    if (action !== Action.resolve) return this.act(exchange, action);
    if (!hasUsableRcode(response) && this.replyStale(exchange)) return;
    this.replyWithResponse(exchange, response);
  }

  private answer(exchange: Exchange): void {
    const action = this.options.decider.decide(exchange);
    if (action === Action.resolve) this.resolve(exchange);
    else this.act(exchange, action);
  }

  private refuse(exchange: Exchange): void {
    const { verdict } = this.options.decider.decision;
    // The reason is the client, unless nobody is answered in that class.
    const ede = exchange.query.qclass === CLASS_IN ? Ede.prohibited : Ede.none;
    this.replies.sendError(exchange, Rcode.refused, ede, verdict);
  }

  /** Everything that needs neither cache nor upstream. */
  private act(exchange: Exchange, action: Exclude<Action, typeof Action.resolve>): void {
    const { replies } = this;
    switch (action) {
      case Action.refuse:
        return this.refuse(exchange);
      case Action.notReady:
        return replies.sendEmpty(exchange, Rcode.servFail, Ede.notReady, NO_VERDICT);
      case Action.block:
        return replies.sendBlock(exchange);
      case Action.answerAny:
        return replies.sendAny(exchange);
      case Action.answerSpecial:
        return replies.sendSpecial(exchange);
    }
  }

  /** From the cache; from upstream what is not there or has expired, in which case the old answer is for want of a new one. */
  private resolve(exchange: Exchange): void {
    const { cache } = this.options;
    const { query } = exchange;
    const found = cache.find(exchange, this.nowSeconds());
    this.timer.source = AnswerSource.cached;
    if (found === CacheResult.fresh) return this.replyWithResponse(exchange, cache.read(query));
    if (found === CacheResult.expiring) {
      const response = cache.read(query);
      cache.markRefreshing();
      this.upstream.refresh(exchange);
      return this.replyWithResponse(exchange, response);
    }
    // Without recursion there is only what is known here.
    if (!query.recursionDesired) {
      this.timer.source = AnswerSource.local;
      return this.replies.sendDecided(exchange, Rcode.refused, Ede.notAuthoritative);
    }
    if (found === CacheResult.failing)
      return this.replyWithResponse(exchange, cache.readStale(query));
    if (found === CacheResult.stale && this.upstream.allDown) {
      const response = cache.readStale(query);
      this.upstream.refresh(exchange);
      return this.replyWithResponse(exchange, response);
    }
    this.timer.startUpstream(exchange);
    if (!this.upstream.forward(exchange)) {
      this.replies.sendDecided(exchange, Rcode.servFail, Ede.other);
    }
  }

  /** Answers with what has expired (RFC 8767). @returns false when there is nothing. */
  private replyStale(exchange: Exchange): boolean {
    const { cache } = this.options;
    if (!cache.findStale(exchange, this.nowSeconds())) return false;
    this.replyWithResponse(exchange, cache.readStale(exchange.query));
    return true;
  }

  /** The one way from a response to the client, wherever it is from: its targets are judged for this client, now. */
  private replyWithResponse(exchange: Exchange, response: Response): void {
    switch (this.options.targetInspector.inspect(response)) {
      case TargetVerdict.pass:
        return this.replies.sendResponse(exchange, response);
      case TargetVerdict.block:
        return this.replies.sendBlock(exchange);
      case TargetVerdict.malformed:
        return this.replies.sendDecided(exchange, Rcode.servFail, Ede.none);
    }
  }

  private get upstream(): UpstreamAccess {
    return this.options.upstream();
  }

  private nowSeconds(): number {
    return this.options.nowSeconds();
  }
}
