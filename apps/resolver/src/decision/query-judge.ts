import {
  CLASS_IN,
  HEADER_BYTES,
  MAX_NAME_BYTES,
  TargetCursor,
  Type,
  type Response,
} from '@weir/dns-wire';
import { type HashKey, SuffixHashes } from '@weir/dns-name';
import type { CidrSet } from '@weir/ops';
import { Decision, type PolicySource, Reason, Verdict } from '@weir/policy';
import type { Exchange } from '../query/exchange.js';
import { offsetOfSuffix } from '../special/special-answer.js';
import type { SpecialNames } from '../special/special-names.js';
import { Special } from '../special/zones.js';

/** What to do with a query. */
export const Action = {
  /** REFUSED: not for this client, or not a question that is answered here. */
  refuse: 0,
  /**
   * SERVFAIL: there is no configuration yet, and nobody is served unfiltered for that reason. Also the answer to a
   * health check while the resolver is not ready.
   */
  notReady: 1,
  block: 2,
  /** The minimal answer to ANY. */
  answerAny: 3,
  /** A name that is answered here: `special` says how. */
  answerSpecial: 4,
  /** Permitted: to be answered from the cache or by an upstream. */
  resolve: 5,
} as const;
export type Action = (typeof Action)[keyof typeof Action];

/** What becomes of an upstream response. */
export const Passage = { pass: 0, block: 1, malformed: 2 } as const;
export type Passage = (typeof Passage)[keyof typeof Passage];

export interface QueryJudgeOptions {
  readonly source: PolicySource;
  readonly hashKey: HashKey;
  /** Clients that are served without a profile. */
  readonly allowedClients: CidrSet;
  /** Whether the targets of CNAME, HTTPS and SVCB records are judged too. */
  readonly inspectTargets: boolean;
  /** Names by which clients look for another resolver: answered here whatever the policy says. */
  readonly discoveryNames: SpecialNames;
  /** Names that are answered here when the policy permits them. */
  readonly localNames: SpecialNames;
  /** Whether the resolver is ready, for health checks that ask for the readiness name. */
  readonly isReady: () => boolean;
  /** Wall clock in milliseconds: schedules follow it. */
  readonly nowMs: () => number;
}

/** Decides queries and responses by the policy in force (decisions §7). `decision` tells about the last call. Allocates nothing. */
export class QueryJudge {
  readonly decision = new Decision();
  /** After `Action.answerSpecial`: what the name is, and the offset in the query of the special name that it is or is below. */
  special: Special = Special.none;
  specialOffset = 0;
  private readonly names: SuffixHashes;
  private readonly targets = new TargetCursor();
  private readonly target = new Uint8Array(MAX_NAME_BYTES);

  constructor(private readonly options: QueryJudgeOptions) {
    this.names = new SuffixHashes(options.hashKey);
  }

  /**
   * The order of the checks is that of decisions §7, §8 and §9: what refuses comes first, then the names that no policy answers, then
   * the filter, then what is no question for an upstream. Sets the exchange's hash.
   */
  judgeQuery(exchange: Exchange): Action {
    const { bytes, query, client } = exchange;
    exchange.nameLow = 0;
    exchange.nameHigh = 0;
    if (query.qclass !== CLASS_IN) return this.undecided(Action.refuse);
    const { policy } = this.options.source;
    if (policy === null) return this.undecided(Action.notReady);
    const { decision } = this;
    const labels = this.names.compute(bytes, HEADER_BYTES);
    if (labels > 0) {
      exchange.nameLow = this.names.low[labels - 1] | 0;
      exchange.nameHigh = this.names.high[labels - 1] | 0;
    }
    policy.decide(client, this.names, this.options.nowMs(), decision);
    if (decision.verdict === Verdict.unfiltered && !this.options.allowedClients.has(client)) {
      return Action.refuse;
    }
    if (this.isSpecial(this.options.discoveryNames, bytes)) return this.overrule();
    if (decision.verdict === Verdict.block) return Action.block;
    if (query.qtype === Type.any) return Action.answerAny;
    if (!this.isSpecial(this.options.localNames, bytes)) return Action.resolve;
    const isUnready = this.special === Special.ready && !this.options.isReady();
    return isUnready ? this.undecided(Action.notReady) : Action.answerSpecial;
  }

  /**
   * Judges the names that a response leads to, by the profile that the `judgeQuery` just before has found. Every target counts; an
   * explicit allow of the queried name frees all of them, one of a target frees none.
   */
  judgeTargets(response: Response): Passage {
    const { decision, names, targets, target } = this;
    const { policy } = this.options.source;
    const judges = decision.verdict === Verdict.permit && !decision.explicitAllow;
    if (!judges || policy === null || !this.options.inspectTargets) return Passage.pass;
    const { reason, matchedId, matchedLabels } = decision;
    targets.start(response);
    for (let size = targets.next(target); size !== TargetCursor.end; size = targets.next(target)) {
      if (size === TargetCursor.malformed || names.compute(target, 0) < 0) return Passage.malformed;
      policy.judge(names, decision);
      if (decision.verdict === Verdict.block) return Passage.block;
    }
    // The response passes for the queried name's reason.
    decision.reason = reason;
    decision.matchedId = matchedId;
    decision.matchedLabels = matchedLabels;
    decision.explicitAllow = false;
    return Passage.pass;
  }

  private isSpecial(zones: SpecialNames, bytes: Uint8Array): boolean {
    this.special = zones.find(this.names);
    if (this.special === Special.none) return false;
    this.specialOffset = offsetOfSuffix(bytes, this.names.count, zones.labels);
    return true;
  }

  /** A special name that the policy has no say in: what it said is not what is answered, nor counted. */
  private overrule(): Action {
    const { decision } = this;
    if (decision.verdict !== Verdict.unfiltered) {
      decision.verdict = Verdict.permit;
      decision.reason = Reason.none;
    }
    return Action.answerSpecial;
  }

  private undecided(action: Action): Action {
    this.decision.profileId = -1;
    this.decision.verdict = Verdict.unfiltered;
    return action;
  }
}
