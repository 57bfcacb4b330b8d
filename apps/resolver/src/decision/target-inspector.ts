import { MAX_NAME_BYTES, type Response, TargetCursor } from '@weir/dns-wire';
import { type Policy, type PolicySource, Verdict } from '@weir/policy';
import { MAX_TARGETS, TargetHashes } from '../query/target-hashes.js';
import type { PolicyLookup } from './policy-lookup.js';

/** What the inspection of a response says. */
export const TargetVerdict = { pass: 0, block: 1, malformed: 2, tooMany: 3 } as const;
export type TargetVerdict = (typeof TargetVerdict)[keyof typeof TargetVerdict];

export interface TargetInspectorOptions {
  readonly source: PolicySource;
  /** Its `decision` is the one for the queried name. */
  readonly policyLookup: PolicyLookup;
  /** False: every response passes. */
  readonly isEnabled: boolean;
}

/**
 * Applies the policy to the targets of CNAME, HTTPS and SVCB records in a response (decisions §7). Allocates nothing.
 */
export class TargetInspector {
  private readonly targets = new TargetCursor();
  private readonly target = new Uint8Array(MAX_NAME_BYTES);

  constructor(private readonly options: TargetInspectorOptions) {}

  /**
   * Applies the profile that the lookup just before has found. One blocked target blocks the response. An explicit
   * allow of the queried name permits all targets; an explicit allow of a target permits nothing else.
   * @param kept the hashes of its targets, if it comes from the cache
   */
  inspect(response: Response, kept: TargetHashes | null): TargetVerdict {
    const { decision } = this.options.policyLookup;
    const { policy } = this.options.source;
    const isInspected = decision.verdict === Verdict.permit && !decision.explicitAllow;
    if (!isInspected || policy === null || !this.options.isEnabled) return TargetVerdict.pass;
    const { reason, matchedId, matchedLabels } = decision;
    const isKept = kept !== null && kept.count !== TargetHashes.unknown;
    const verdict = isKept ? this.judgeKept(policy, kept) : this.judgeNames(policy, response);
    if (verdict !== TargetVerdict.pass) return verdict;
    // The response passes for the reason that holds for the queried name.
    decision.reason = reason;
    decision.matchedId = matchedId;
    decision.matchedLabels = matchedLabels;
    decision.explicitAllow = false;
    return TargetVerdict.pass;
  }

  private judgeNames(policy: Policy, response: Response): TargetVerdict {
    const { targets, target } = this;
    const { decision, hashes } = this.options.policyLookup;
    targets.start(response);
    let left = MAX_TARGETS;
    for (let size = targets.next(target); size !== TargetCursor.end; size = targets.next(target)) {
      if (size === TargetCursor.malformed) return TargetVerdict.malformed;
      if (left-- === 0) return TargetVerdict.tooMany;
      if (hashes.compute(target, 0) < 0) return TargetVerdict.malformed;
      policy.judge(hashes, decision);
      if (decision.verdict === Verdict.block) return TargetVerdict.block;
    }
    return TargetVerdict.pass;
  }

  private judgeKept(policy: Policy, kept: TargetHashes): TargetVerdict {
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
