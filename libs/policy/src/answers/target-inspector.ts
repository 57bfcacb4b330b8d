import type { SuffixHashes } from '@weir/dns-name';
import { AnswerChain, ChainStatus, type Response } from '@weir/dns-wire';
import { type Reason, Verdict } from '../decision.js';
import type { PolicySource, QueryPolicy } from '../policy-source.js';
import { TargetHashes } from './target-hashes.js';
import type { PolicyLookup } from './policy-lookup.js';

/** What the inspection of a response says. */
export const TargetVerdict = { pass: 0, block: 1, malformed: 2, tooMany: 3 } as const;
export type TargetVerdict = (typeof TargetVerdict)[keyof typeof TargetVerdict];

export interface TargetInspectorOptions {
  readonly source: PolicySource<QueryPolicy>;
  /** Its `decision` is the one for the queried name. */
  readonly policyLookup: PolicyLookup;
  /** False: every response passes. */
  readonly isEnabled: boolean;
}

/**
 * Applies the policy to the names that a response leads to (decisions §7), see `AnswerChain`. Allocates nothing.
 */
export class TargetInspector {
  private readonly chain = new AnswerChain();

  constructor(private readonly options: TargetInspectorOptions) {}

  /**
   * Applies the profile that the lookup just before has found. One blocked target blocks the response. An explicit
   * allow of the queried name permits all targets; an explicit allow of a target permits nothing else.
   * @param kept the hashes of its targets, if it comes from the cache
   */
  inspect(response: Response, kept: TargetHashes | null): TargetVerdict {
    const { decision } = this.options.policyLookup;
    const policy = this.inspectingPolicy();
    if (policy === null) return TargetVerdict.pass;
    const { reason, matchedId, matchedLabels } = decision;
    const isKept = kept !== null && kept.count !== TargetHashes.unknown;
    const verdict = isKept ? this.judgeKept(policy, kept) : this.judgeNames(policy, response);
    if (verdict !== TargetVerdict.pass) return verdict;
    this.restore(reason, matchedId, matchedLabels);
    return TargetVerdict.pass;
  }

  /**
   * Like `inspect`, for the target of a rewrite.
   * @param names the suffix hashes of the target
   * @returns whether it is blocked
   */
  blocks(names: SuffixHashes): boolean {
    const { decision } = this.options.policyLookup;
    const policy = this.inspectingPolicy();
    if (policy === null) return false;
    const { reason, matchedId, matchedLabels } = decision;
    policy.judge(names, decision);
    if (decision.verdict === Verdict.block) return true;
    this.restore(reason, matchedId, matchedLabels);
    return false;
  }

  /** The policy, when it has a say about targets. */
  private inspectingPolicy(): QueryPolicy | null {
    const { decision } = this.options.policyLookup;
    const isInspected = decision.verdict === Verdict.permit && !decision.explicitAllow;
    return isInspected && this.options.isEnabled ? this.options.source.policy : null;
  }

  /** The answer passes for the reason that holds for the queried name. */
  private restore(reason: Reason, matchedId: number, matchedLabels: number): void {
    const { decision } = this.options.policyLookup;
    decision.reason = reason;
    decision.matchedId = matchedId;
    decision.matchedLabels = matchedLabels;
    decision.explicitAllow = false;
  }

  private judgeNames(policy: QueryPolicy, response: Response): TargetVerdict {
    const { chain } = this;
    const { decision, hashes } = this.options.policyLookup;
    const status = chain.walk(response);
    for (let i = 0; i < chain.targetCount; i++) {
      hashes.compute(chain.names, chain.targetAt(i));
      policy.judge(hashes, decision);
      if (decision.verdict === Verdict.block) return TargetVerdict.block;
    }
    if (status === ChainStatus.whole) return TargetVerdict.pass;
    return status === ChainStatus.malformed ? TargetVerdict.malformed : TargetVerdict.tooMany;
  }

  private judgeKept(policy: QueryPolicy, kept: TargetHashes): TargetVerdict {
    const { decision, hashes } = this.options.policyLookup;
    let at = 0;
    for (let i = 0; i < kept.count; i++) {
      at = hashes.load(kept.words, at);
      policy.judge(hashes, decision);
      if (decision.verdict === Verdict.block) return TargetVerdict.block;
    }
    return TargetVerdict.pass;
  }
}
