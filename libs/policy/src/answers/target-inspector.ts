import { AnswerChain, ChainStatus, type Response } from '@weir/dns-wire';
import { type Decision, type Reason, Verdict } from '../decision.js';
import type { PolicyReader, PolicySource } from '../policy-reader.js';
import type { DecidedQuery } from './decided-query.js';
import { TargetHashes } from './target-hashes.js';

/** What the inspection of a response says. */
export const TargetVerdict = { pass: 0, block: 1, malformed: 2, tooMany: 3 } as const;
export type TargetVerdict = (typeof TargetVerdict)[keyof typeof TargetVerdict];

export interface TargetInspectorOptions {
  readonly source: PolicySource;
  /** False: targets are judged by orders and mandatory categories alone. */
  readonly isEnabled: boolean;
}

/**
 * Applies the policy to the names that a response leads to (decisions §7, §14), see `AnswerChain`. Allocates nothing.
 */
export class TargetInspector {
  private readonly chain = new AnswerChain();
  // What holds for the queried name.
  private verdict: Verdict = Verdict.unfiltered;
  private reason: Reason = 0;
  private explicitAllow = false;
  private matchedId = -1;
  private matchedLabels = 0;

  constructor(private readonly options: TargetInspectorOptions) {}

  /**
   * Applies the profile of the subscriber. One blocked target blocks the response, and becomes what was decided. An
   * explicit allow of the queried name permits all targets, except for orders; an explicit allow of a target permits
   * nothing else.
   * @param kept the hashes of its targets, if it comes from the cache
   */
  inspect(query: DecidedQuery, response: Response, kept: TargetHashes | null): TargetVerdict {
    const policy = this.inspectingPolicy(query.decision);
    if (policy === null) return TargetVerdict.pass;
    const isKept = kept !== null && kept.count !== TargetHashes.unknown;
    const verdict = isKept
      ? this.judgeKept(policy, query, kept)
      : this.judgeNames(policy, query, response);
    if (verdict !== TargetVerdict.block) this.restore(query.decision);
    return verdict;
  }

  /**
   * Like `inspect`, for the target of a rewrite, whose hashes are those of the query from now on.
   * @returns whether it is blocked
   */
  blocks(query: DecidedQuery, target: Uint8Array): boolean {
    query.hashes.compute(target, 0);
    const policy = this.inspectingPolicy(query.decision);
    if (policy === null) return false;
    if (this.isBlocked(policy, query)) return true;
    this.restore(query.decision);
    return false;
  }

  /** Whether the policy has a say about targets. */
  hasSay({ decision }: DecidedQuery): boolean {
    return this.inspectingPolicy(decision) !== null;
  }

  /** The policy, when it has a say about targets. Takes down what holds for the queried name. */
  private inspectingPolicy(decision: Decision): PolicyReader | null {
    const { policy } = this.options.source;
    this.verdict = decision.verdict;
    this.reason = decision.reason;
    this.explicitAllow = decision.explicitAllow;
    this.matchedId = decision.matchedId;
    this.matchedLabels = decision.matchedLabels;
    return policy !== null && (this.isByProfile() || policy.hasOrders) ? policy : null;
  }

  /** Whether the profile has a say about targets, too. */
  private isByProfile(): boolean {
    return this.options.isEnabled && this.verdict === Verdict.permit && !this.explicitAllow;
  }

  private isBlocked(policy: PolicyReader, { hashes, decision }: DecidedQuery): boolean {
    if (this.isByProfile()) policy.judge(hashes, decision);
    else policy.judgeOrders(hashes, decision);
    return decision.verdict === Verdict.block;
  }

  /** The answer passes for the reason that holds for the queried name. */
  private restore(decision: Decision): void {
    decision.verdict = this.verdict;
    decision.reason = this.reason;
    decision.explicitAllow = this.explicitAllow;
    decision.matchedId = this.matchedId;
    decision.matchedLabels = this.matchedLabels;
  }

  private judgeNames(policy: PolicyReader, query: DecidedQuery, response: Response): TargetVerdict {
    const { chain } = this;
    const status = chain.walk(response);
    for (let i = 0; i < chain.targetCount; i++) {
      query.hashes.compute(chain.names, chain.targetAt(i));
      if (this.isBlocked(policy, query)) return TargetVerdict.block;
    }
    if (status === ChainStatus.whole) return TargetVerdict.pass;
    return status === ChainStatus.malformed ? TargetVerdict.malformed : TargetVerdict.tooMany;
  }

  private judgeKept(policy: PolicyReader, query: DecidedQuery, kept: TargetHashes): TargetVerdict {
    let at = 0;
    for (let i = 0; i < kept.count; i++) {
      at = query.hashes.load(kept.words, at);
      if (this.isBlocked(policy, query)) return TargetVerdict.block;
    }
    return TargetVerdict.pass;
  }
}
