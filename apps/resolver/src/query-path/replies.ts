import {
  CLIENT_COOKIE_BYTES,
  Flag,
  FLAGS_OFFSET,
  MAX_MESSAGE_BYTES,
  Rcode,
  Ede,
  type ExtendedError,
  extendedError,
  NO_EXTENDED_ERROR,
  type Response,
  writeEmptyAnswer,
  writeForwardedAnswer,
  writeTruncatedAnswer,
} from '@weir/dns-wire';
import { type Decision, type PolicySource, Reason, Verdict } from '@weir/policy';
import {
  OwnAnswers,
  type OwnAnswersOptions,
  PROHIBITED,
  type ServerRecords,
  type SpecialMatch,
} from '@weir/policy/answers';
import type { Dnstap } from '../dnstap/dnstap.js';
import type { RateLimits } from '../limits/rate-limits.js';
import type { ProfileCounters } from '../metrics/profile-counters.js';
import { NO_VERDICT, type QueryCounters } from '../metrics/query-counters.js';
import { AnswerSource, type QueryTimer } from '../metrics/query-timer.js';
import type { QueryLog } from '../query-log/query-log.js';
import { DropReason, type Exchange, Transport } from '../query/exchange.js';

/**
 * Errors of answers without records. Texts are fixed and short: they hold nothing of the query, and the answer always
 * has room for them.
 */
export const ExtendedErrors = {
  none: NO_EXTENDED_ERROR,
  notReady: extendedError(Ede.notReady, 'this resolver is not ready'),
  prohibited: PROHIBITED,
  invalidQueryType: extendedError(Ede.invalidQueryType),
  notRecursive: extendedError(Ede.notAuthoritative),
  deadZone: extendedError(Ede.noReachableAuthority, 'too many queries for this zone wait'),
  overloaded: extendedError(Ede.other, 'too many queries wait for upstream resolvers'),
  tooManyTargets: extendedError(Ede.other, 'too many targets in the answer'),
} as const;

export interface RepliesOptions extends OwnAnswersOptions {
  readonly source: PolicySource;
  /** Highest TTL of records from upstream. */
  readonly maxTtlSeconds: number;
  readonly limits: RateLimits;
  readonly counters: QueryCounters;
  /** Null: queries are not counted by profile. */
  readonly profileCounters: ProfileCounters | null;
  readonly timer: QueryTimer;
  /** Null: queries are not sent to a dnstap receiver. */
  readonly dnstap: Dnstap | null;
  /** Null: queries are not logged. */
  readonly queryLog: QueryLog | null;
}

/**
 * The last step of every query: write the answer, count it and send it, or drop the query. Allocates nothing. A
 * decision is what the policy says about the query; null: it was not asked.
 */
export class Replies {
  /** For answers whose way back has no place of its own for them. */
  private readonly ownSpace = new Uint8Array(MAX_MESSAGE_BYTES);

  private readonly ownAnswers: OwnAnswers;

  constructor(private readonly options: RepliesOptions) {
    this.ownAnswers = new OwnAnswers(options);
  }

  sendBlock(exchange: Exchange, decision: Decision): void {
    const out = exchange.replyPath.space ?? this.ownSpace;
    const { timer } = this.options;
    if (timer.source !== AnswerSource.upstream) timer.source = AnswerSource.blocked;
    const limit = exchange.replyPath.maxAnswerBytes(exchange.query);
    const length = this.ownAnswers.writeBlock(out, exchange, decision, limit);
    this.send(exchange, decision, out, length, Rcode.noError);
  }

  /** NODATA with EDE 15, in place of private addresses. */
  sendNoAddress(exchange: Exchange, decision: Decision): void {
    const out = exchange.replyPath.space ?? this.ownSpace;
    const length = this.ownAnswers.writeNoAddress(out, exchange, decision);
    this.send(exchange, decision, out, length, Rcode.noError);
  }

  sendAny(exchange: Exchange, decision: Decision): void {
    const out = exchange.replyPath.space ?? this.ownSpace;
    const length = this.ownAnswers.writeAny(out, exchange, decision);
    this.send(exchange, decision, out, length, Rcode.noError);
  }

  sendSpecial(exchange: Exchange, decision: Decision, special: SpecialMatch): void {
    const out = exchange.replyPath.space ?? this.ownSpace;
    const limit = exchange.replyPath.maxAnswerBytes(exchange.query);
    const length = this.ownAnswers.writeSpecial(out, exchange, special, decision, limit);
    this.send(exchange, decision, out, length, out[FLAGS_OFFSET + 1] & Flag.rcode);
  }

  sendServerRecords(exchange: Exchange, decision: Decision, records: ServerRecords): void {
    const out = exchange.replyPath.space ?? this.ownSpace;
    const limit = exchange.replyPath.maxAnswerBytes(exchange.query);
    const length = this.ownAnswers.writeServer(out, exchange, records, decision, limit);
    this.send(exchange, decision, out, length, Rcode.noError);
  }

  sendResponse(exchange: Exchange, decision: Decision, response: Response): void {
    const out = exchange.replyPath.space ?? this.ownSpace;
    const { maxTtlSeconds, source } = this.options;
    const { bytes, query, replyPath } = exchange;
    const limit = replyPath.maxAnswerBytes(query);
    const ttlSeconds = Math.min(decision.ttlCapSeconds, maxTtlSeconds);
    // Nobody has judged the names of additional records.
    const hasAdditional =
      decision.verdict === Verdict.unfiltered && source.policy?.hasOrders === false;
    const length = writeForwardedAnswer(
      out,
      response,
      bytes,
      query,
      limit,
      ttlSeconds,
      hasAdditional,
    );
    this.send(exchange, decision, out, length, response.rcode);
  }

  /** The answer to a query that asks for a server cookie only (RFC 7873 §5.4). */
  sendCookie(exchange: Exchange): void {
    const { hasValidCookie, cookieBytes } = exchange.query;
    const isAccepted = hasValidCookie || cookieBytes === CLIENT_COOKIE_BYTES;
    const rcode = isAccepted ? Rcode.noError : Rcode.badCookie;
    this.sendEmpty(exchange, null, rcode, ExtendedErrors.none);
  }

  /**
   * An error for a client whose address may be spoofed. Over UDP, without a valid cookie, the number of such answers
   * per second is limited.
   */
  sendError(
    exchange: Exchange,
    decision: Decision | null,
    rcode: number,
    error: ExtendedError,
  ): void {
    const { limits } = this.options;
    const isUnverified =
      exchange.replyPath.transport === Transport.udp && !exchange.query.hasValidCookie;
    if (isUnverified && limits.exceedsErrorRate(exchange.client))
      this.sendOverLimit(exchange, rcode);
    else this.sendEmpty(exchange, decision, rcode, error);
  }

  /**
   * Over the error limit most queries are dropped. Every second REFUSED is replaced by a hint instead (the "slip" of
   * response rate limiting): BADCOOKIE with a valid cookie for a client with cookies, TC=1 for others. Either way a
   * real client can come back with a proven address. The hint is hardly larger than the query, so it is useless for
   * amplification.
   */
  private sendOverLimit(exchange: Exchange, rcode: number): void {
    if (rcode !== Rcode.refused || !this.options.limits.allowsSlip()) {
      return this.drop(exchange, DropReason.limited);
    }
    const { bytes, query } = exchange;
    if (query.hasAnswerCookie)
      return this.sendEmpty(exchange, null, Rcode.badCookie, ExtendedErrors.none);
    const out = exchange.replyPath.space ?? this.ownSpace;
    const length = writeTruncatedAnswer(out, bytes, query, Rcode.noError);
    this.send(exchange, null, out, length, Rcode.noError);
  }

  sendEmpty(
    exchange: Exchange,
    decision: Decision | null,
    rcode: number,
    error: ExtendedError,
  ): void {
    const out = exchange.replyPath.space ?? this.ownSpace;
    const { bytes, query } = exchange;
    const length = writeEmptyAnswer(out, bytes, query, rcode, error);
    this.send(exchange, decision, out, length, rcode);
  }

  drop(exchange: Exchange, reason: DropReason): void {
    exchange.replyPath.drop(reason);
  }

  private send(
    exchange: Exchange,
    decision: Decision | null,
    out: Uint8Array,
    length: number,
    rcode: number,
  ): void {
    const { counters, profileCounters, timer, queryLog, dnstap, blockErrors } = this.options;
    const { replyPath, query } = exchange;
    const verdict = decision === null ? NO_VERDICT : decision.verdict;
    // Nobody must be told such a name.
    const isSecret = decision !== null && blockErrors.isOfSecret(decision);
    const decided = decision === null ? Reason.none : decision.reason;
    // As explain says (decisions §14): where one mandatory category is secret and the only one, its reason names it.
    const reason = isSecret ? Reason.order : decided;
    counters.answered(replyPath.transport, query.qtype, verdict, reason, rcode);
    if (profileCounters !== null && decision !== null) {
      profileCounters.answered(decision.profileId, decision.verdict, reason);
    }
    timer.finish(exchange);
    if (queryLog?.takeSample()) {
      const profileId = decision === null ? -1 : decision.profileId;
      const { source } = timer;
      const nowMs = timer.nowMs();
      queryLog.write(exchange, { verdict, reason, rcode, source, profileId, isSecret, nowMs });
    }
    const sentLength = this.withinShare(exchange, out, length, rcode);
    if (dnstap?.takeSample()) {
      dnstap.write(exchange, out, sentLength, decision !== null, isSecret);
    }
    replyPath.reply(exchange, out, sentLength);
  }

  /**
   * Truncates a UDP answer beyond the share of bytes of the subscriber, unless a cookie proves its address.
   * @returns the length of the answer
   */
  private withinShare(
    { bytes, client, query, replyPath }: Exchange,
    out: Uint8Array,
    length: number,
    rcode: number,
  ): number {
    const isUnverified = replyPath.transport === Transport.udp && !query.hasValidCookie;
    if (!isUnverified || !this.options.limits.exceedsByteRate(client, query.size, length)) {
      return length;
    }
    // Nothing beyond the query: no NSID.
    query.nsidLimit = 0;
    return writeTruncatedAnswer(out, bytes, query, rcode);
  }
}
