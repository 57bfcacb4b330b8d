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
   * Applies the profile that the lookup just before has found. One blocked target blocks the response. An explicit
   * allow of the queried name permits all targets, but for orders; an explicit allow of a target permits nothing else.
   * @param kept the hashes of its targets, if it comes from the cache
   */
  inspect(response: Response, kept: TargetHashes | null): TargetVerdict {
    const policy = this.inspectingPolicy();
    if (policy === null) return TargetVerdict.pass;
    const isKept = kept !== null && kept.count !== TargetHashes.unknown;
    const verdict = isKept ? this.judgeKept(policy, kept) : this.judgeNames(policy, response);
    if (verdict !== TargetVerdict.block) this.restore();
    return verdict;
  }

  /**
   * Like `inspect`, for the target of a rewrite.
   * @param names the suffix hashes of the target
   * @returns whether it is blocked
   */
  blocks(names: SuffixHashes): boolean {
    const policy = this.inspectingPolicy();
    if (policy === null) return false;
    if (this.isBlocked(policy, names)) return true;
    this.restore();
    return false;
  }

  /** Whether the policy has a say about targets. */
  get hasSay(): boolean {
    return this.inspectingPolicy() !== null;
  }

  /** The policy, when it has a say about targets. Takes down what holds for the queried name. */
  private inspectingPolicy(): QueryPolicy | null {
    const { policy } = this.options.source;
    const { decision } = this.options.policyLookup;
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

  private isBlocked(policy: QueryPolicy, names: SuffixHashes): boolean {
    const { decision } = this.options.policyLookup;
    if (this.isByProfile()) policy.judge(names, decision);
    else policy.judgeOrders(names, decision);
    return decision.verdict === Verdict.block;
  }

  /** The answer passes for the reason that holds for the queried name. */
  private restore(): void {
    const { decision } = this.options.policyLookup;
    decision.verdict = this.verdict;
    decision.reason = this.reason;
    decision.explicitAllow = this.explicitAllow;
    decision.matchedId = this.matchedId;
    decision.matchedLabels = this.matchedLabels;
  }

  private judgeNames(policy: QueryPolicy, response: Response): TargetVerdict {
    const { chain } = this;
    const { hashes } = this.options.policyLookup;
    const status = chain.walk(response);
    for (let i = 0; i < chain.targetCount; i++) {
      hashes.compute(chain.names, chain.targetAt(i));
      if (this.isBlocked(policy, hashes)) return TargetVerdict.block;
    }
    if (status === ChainStatus.whole) return TargetVerdict.pass;
    return status === ChainStatus.malformed ? TargetVerdict.malformed : TargetVerdict.tooMany;
  }

  private judgeKept(policy: QueryPolicy, kept: TargetHashes): TargetVerdict {
    const { hashes } = this.options.policyLookup;
    let at = 0;
    for (let i = 0; i < kept.count; i++) {
      at = hashes.load(kept.words, at);
      if (this.isBlocked(policy, hashes)) return TargetVerdict.block;
    }
    return TargetVerdict.pass;
  }
}
