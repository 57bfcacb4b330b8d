import type { HashKey } from '@weir/dns-name';
import {
  answersQuestion,
  CLASS_IN,
  type ExtendedError,
  hasOption,
  hasUsableRcode,
  parseQuery,
  QueryStatus,
  Rcode,
  type Response,
  Type,
} from '@weir/dns-wire';
import type { PolicySource } from '@weir/policy';
import {
  Action,
  DecidedQuery,
  LocalAnswers,
  type QueryDecider,
  type ServerInformation,
  type TargetInspector,
  TargetVerdict,
} from '@weir/policy/answers';
import type { AnswerCache } from '../cache/answer-cache.js';
import { CacheResult } from '../cache/cache-reader.js';
import type { CachedAnswer } from '../cache/entry-codec.js';
import type { ServerCookies } from '../limits/server-cookies.js';
import { AnswerSource, type LatencyHistogram, QueryTimer } from '../metrics/query-timer.js';
import {
  DropReason,
  type Exchange,
  ForwardResult,
  type QueryHandler,
  Transport,
} from '../query/exchange.js';
import { OwnQuestion, type Question } from '../query/question.js';
import type { ReadPolicy } from '../shared-policy/read-policy.js';
import type { Forwarder, ForwardEvents } from '../upstream/forwarder.js';
import type { RebindingProtection } from './rebinding-protection.js';
import { ExtendedErrors, Replies, type RepliesOptions } from './replies.js';

type UpstreamAccess = Pick<Forwarder, 'isStaleDue' | 'forward' | 'refresh'>;

export interface QueryPathOptions extends Omit<RepliesOptions, 'timer'> {
  /** The policy stays as it is from `enter` to `leave`. The path calls them for each query and each response. */
  readonly source: PolicySource & Pick<ReadPolicy, 'enter' | 'leave'>;
  readonly hashKey: HashKey;
  readonly decider: QueryDecider;
  readonly targetInspector: TargetInspector;
  readonly rebindingProtection: RebindingProtection;
  readonly serverInformation: ServerInformation;
  /** The option of clients that read EXTRA-TEXT as JSON; 0: none. */
  readonly structuredErrorsOption: number;
  readonly cookies: ServerCookies;
  readonly cache: AnswerCache;
  /** Whether a cached NXDOMAIN answers for the names below it too (RFC 8020). */
  readonly hasNxDomainCut: boolean;
  readonly upstream: () => UpstreamAccess;
  /** Monotonic clock of the cache, in whole seconds. */
  readonly nowSeconds: () => number;
  readonly latencies: LatencyHistogram;
  /** Monotonic clock for latencies, in milliseconds. */
  readonly nowMs: () => number;
  /** Called with an exception from handling a query. That query is dropped; the others go on. */
  readonly onDefect: (error: unknown) => void;
}

/**
 * The path of every query: parse it, decide, then block, refuse, answer from the cache or forward it. Also takes what
 * comes back from upstream.
 */
export class QueryPath implements QueryHandler, ForwardEvents {
  private readonly timer: QueryTimer;
  private readonly replies: Replies;
  private readonly localAnswers = new LocalAnswers();
  private readonly targetQuestion = new OwnQuestion();
  private readonly decided: DecidedQuery;

  constructor(private readonly options: QueryPathOptions) {
    this.timer = new QueryTimer(options.latencies, options.nowMs);
    this.replies = new Replies({ ...options, timer: this.timer });
    this.decided = new DecidedQuery(options.hashKey);
  }

  handle(exchange: Exchange): void {
    const { source } = this.options;
    source.enter();
    try {
      this.handleQuery(exchange);
    } catch (error) {
      this.drop(exchange, error);
    } finally {
      source.leave();
    }
  }

  onCompleted(question: Question, response: Response, generation: number): void {
    const { cache, onDefect } = this.options;
    try {
      cache.put(question, response, this.nowSeconds(), generation);
    } catch (error) {
      // The clients must be answered all the same.
      onDefect(error);
    }
  }

  hasStale(question: Question): boolean {
    const { cache, onDefect } = this.options;
    cache.enter();
    try {
      return cache.findStale(question, this.nowSeconds());
    } catch (error) {
      onDefect(error);
      return false;
    } finally {
      cache.leave();
    }
  }

  onResponse(exchange: Exchange, response: Response): void {
    const { source } = this.options;
    source.enter();
    try {
      this.handleResponse(exchange, response);
    } catch (error) {
      this.drop(exchange, error);
    } finally {
      source.leave();
    }
  }

  onDefect(error: unknown): void {
    this.options.onDefect(error);
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
    const isEncrypted = exchange.replyPath.transport >= Transport.tls;
    query.isAnswerPadded = query.hasPadding && isEncrypted;
    query.wantsStructuredErrors = isEncrypted && this.asksForStructuredErrors(exchange);
    if (query.hasKeepalive) query.keepaliveUnits = exchange.replyPath.keepaliveUnits();
    if (query.hasNsid) {
      query.nsid = this.options.serverInformation.nsid;
      query.nsidLimit = exchange.replyPath.maxAnswerBytes(query);
    }
    if (query.cookieBytes > 0) this.options.cookies.process(query, exchange.client);
    if (status === QueryStatus.ok) this.answer(exchange);
    else if (status === QueryStatus.cookieOnly) replies.sendCookie(exchange);
    else {
      const isNxName = query.qtype === Type.nxname;
      const error = isNxName ? ExtendedErrors.invalidQueryType : ExtendedErrors.none;
      replies.sendError(exchange, null, status, error);
    }
  }

  private asksForStructuredErrors({ bytes, query }: Exchange): boolean {
    const { structuredErrorsOption: option } = this.options;
    return option > 0 && hasOption(bytes, query.optionsStart, query.optionsEnd, option);
  }

  private handleResponse(exchange: Exchange, response: Response): void {
    this.timer.source = AnswerSource.upstream;
    // The configuration may have changed while the upstream was asked. The current one decides.
    const action = this.decide(exchange);
    const question = this.questionOf(exchange, action);
    if (question === null || !answersQuestion(response, question.bytes, question.query)) {
      return this.act(exchange, action, question);
    }
    if (!hasUsableRcode(response) && this.replyStale(exchange, question)) return;
    this.replyWithResponse(exchange, response, null);
  }

  private decide(exchange: Exchange): Action {
    return this.options.decider.decide(exchange, this.decided);
  }

  private answer(exchange: Exchange): void {
    const action = this.decide(exchange);
    this.act(exchange, action, this.questionOf(exchange, action));
  }

  /** The question to resolve for that query: its own, or that for the target of a chain. Null: there is none. */
  private questionOf(exchange: Exchange, action: Action): Question | null {
    const { chain, hashes } = this.decided;
    if (action === Action.resolve) return exchange;
    if (action !== Action.resolveTarget || chain === null) return null;
    this.targetQuestion.setName(exchange, chain.target, hashes);
    return this.targetQuestion;
  }

  private refuse(exchange: Exchange): void {
    // The reason is the client, or the class, for which there is no EDE.
    const error =
      exchange.query.qclass === CLASS_IN ? ExtendedErrors.prohibited : ExtendedErrors.none;
    this.replies.sendError(exchange, this.decided.decision, Rcode.refused, error);
  }

  /** @param question the one to resolve, when that is the action */
  private act(exchange: Exchange, action: Action, question: Question | null): void {
    const { replies, decided } = this;
    switch (action) {
      case Action.resolve:
      case Action.resolveTarget:
        return this.resolve(exchange, question ?? exchange);
      case Action.refuse:
        return this.refuse(exchange);
      case Action.notReady:
        return replies.sendEmpty(exchange, null, Rcode.servFail, ExtendedErrors.notReady);
      case Action.block:
        return replies.sendBlock(exchange, decided.decision);
      case Action.answerAny:
        return replies.sendAny(exchange, decided.decision);
      case Action.answerServer:
        return this.answerServer(exchange);
      case Action.answerSpecial:
        return replies.sendSpecial(exchange, decided.decision, decided.special);
      case Action.answerLocal:
        return this.answerLocal(exchange);
    }
  }

  private answerServer(exchange: Exchange): void {
    const { serverRecords, decision } = this.decided;
    if (serverRecords === null) throw new Error('an answer about this server without records');
    this.replies.sendServerRecords(exchange, decision, serverRecords);
  }

  private answerLocal(exchange: Exchange): void {
    const { localName, decision, special } = this.decided;
    if (localName === null) throw new Error('an answer for a name without local records');
    const response = this.localAnswers.answer(exchange, localName, special);
    this.replies.sendResponse(exchange, decision, response);
  }

  /**
   * Answers from the cache. Asks upstream for what is missing or expired; an expired answer is used only when no
   * upstream has a new one in time, or none can be asked.
   */
  private resolve(exchange: Exchange, question: Question): void {
    // The cache would tell what other clients asked (decisions §9).
    if (!question.query.recursionDesired) {
      return this.sendError(exchange, Rcode.refused, ExtendedErrors.notRecursive);
    }
    this.timer.source = AnswerSource.cached;
    const cached = this.readCache(exchange, question);
    if (cached !== null) return this.replyWithResponse(exchange, cached.response, cached);
    const result = this.forward(exchange, question);
    if (result !== ForwardResult.taken) this.replyUnforwarded(exchange, question, result);
  }

  /** The cached answer; may also begin its refresh. Null: the upstreams have to be asked. */
  private readCache(exchange: Exchange, question: Question): CachedAnswer | null {
    const { cache, hasNxDomainCut } = this.options;
    const { query } = question;
    const nowSeconds = this.nowSeconds();
    let isClaimed: boolean;
    let cached: CachedAnswer;
    cache.enter();
    try {
      switch (cache.find(question, nowSeconds)) {
        case CacheResult.fresh:
          return cache.read(query);
        case CacheResult.expiring:
          isClaimed = cache.beginRefresh();
          cached = cache.read(query);
          break;
        case CacheResult.failing:
          return cache.readStale(query);
        case CacheResult.stale:
          if (!this.upstream.isStaleDue(question)) return null;
          isClaimed = cache.beginRefresh();
          cached = cache.readStale(query);
          break;
        case CacheResult.miss:
          return hasNxDomainCut ? cache.readAbove(question, this.decided.hashes, nowSeconds) : null;
      }
    } finally {
      cache.leave();
    }
    // It makes a system call, and other threads may not wait for that.
    if (isClaimed && !this.upstream.refresh(exchange, question)) {
      cache.cancelRefreshOf(question, nowSeconds);
    }
    return cached;
  }

  private forward(exchange: Exchange, question: Question): ForwardResult {
    this.timer.startUpstream(exchange);
    return this.upstream.forward(exchange, question);
  }

  /** Answers a question that cannot be forwarded now. */
  private replyUnforwarded(exchange: Exchange, question: Question, result: ForwardResult): void {
    if (this.replyStale(exchange, question)) return;
    const isDead = result === ForwardResult.deadZone;
    const error = isDead ? ExtendedErrors.deadZone : ExtendedErrors.overloaded;
    this.sendError(exchange, Rcode.servFail, error);
  }

  /** An error of a query that was permitted. */
  private sendError(exchange: Exchange, rcode: number, error: ExtendedError): void {
    this.replies.sendEmpty(exchange, this.decided.decision, rcode, error);
  }

  /** Answers with an expired answer (RFC 8767). @returns false when there is none */
  private replyStale(exchange: Exchange, question: Question): boolean {
    const { cache } = this.options;
    let cached: CachedAnswer;
    cache.enter();
    try {
      if (!cache.findStale(question, this.nowSeconds())) return false;
      cached = cache.readStale(question.query);
    } finally {
      cache.leave();
    }
    this.replyWithResponse(exchange, cached.response, cached);
    return true;
  }

  /**
   * Every response goes to the client through here, from the cache or from upstream: its targets are inspected for this
   * client, by the policy in force now.
   * @param cached the response with what the cache knows of it, if it comes from there
   */
  private replyWithResponse(
    exchange: Exchange,
    response: Response,
    cached: CachedAnswer | null,
  ): void {
    const { decided } = this;
    const targets = cached === null ? null : cached.targets;
    switch (this.options.targetInspector.inspect(decided, response, targets)) {
      case TargetVerdict.pass:
        return this.sendResponse(exchange, response, cached);
      case TargetVerdict.block:
        return this.replies.sendBlock(exchange, decided.decision);
      case TargetVerdict.malformed:
        return this.sendError(exchange, Rcode.servFail, ExtendedErrors.none);
      case TargetVerdict.tooMany:
        return this.sendError(exchange, Rcode.servFail, ExtendedErrors.tooManyTargets);
    }
  }

  /**
   * A response to the question for the target of a chain becomes one to the question of the client. Where the
   * operator has written this target, its addresses are his.
   */
  private sendResponse(exchange: Exchange, response: Response, cached: CachedAnswer | null): void {
    const { rebindingProtection, counters } = this.options;
    const { chain, decision } = this.decided;
    if (chain === null) {
      const rest = rebindingProtection.filter(exchange, decision, response, cached);
      if (rest !== response) counters.removedAddresses();
      if (rest !== null) this.replies.sendResponse(exchange, decision, rest);
      else this.replies.sendNoAddress(exchange, decision);
      return;
    }
    const answer = this.localAnswers.answerByTarget(exchange, chain, response);
    if (answer !== null) return this.replies.sendResponse(exchange, decision, answer);
    this.sendError(exchange, Rcode.servFail, ExtendedErrors.none);
  }

  private get upstream(): UpstreamAccess {
    return this.options.upstream();
  }

  private nowSeconds(): number {
    return this.options.nowSeconds();
  }
}
