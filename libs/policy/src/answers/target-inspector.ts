import { type HashKey, SuffixHashes } from '@weir/dns-name';
import { AnswerChain, ChainStatus, type Response } from '@weir/dns-wire';
import { Decision, Verdict } from '../decision.js';
import type { PolicyReader, PolicySource } from '../policy-reader.js';
import type { DecidedQuery } from './decided-query.js';

/** 32 targets of seven labels. */
const MAX_WORDS = 512;

/**
 * The hashes of the targets of an answer, which the cache has beside it: `count` runs of words, see
 * `SuffixHashes.save`.
 */
export class TargetHashes {
  /** The hashes are not known: the answer has too many, or a malformed target. */
  static readonly unknown = -1;

  readonly words = new Int32Array(MAX_WORDS);
  size = 0;
  /** Number of targets, or `unknown`. */
  count: number = TargetHashes.unknown;

  clear(count: number): void {
    this.size = 0;
    this.count = count;
  }
}

/** Computes the hashes of the targets of an answer, for the cache. Allocates nothing. */
export class TargetHasher {
  private readonly chain = new AnswerChain();
  private readonly hashes: SuffixHashes;

  constructor(key: HashKey) {
    this.hashes = new SuffixHashes(key);
  }

  /** @param out becomes `unknown` when there are too many, or one is malformed */
  compute(response: Response, out: TargetHashes): void {
    const { chain } = this;
    out.clear(0);
    let isWhole = chain.walk(response) === ChainStatus.whole;
    for (let i = 0; isWhole && i < chain.targetCount; i++)
      isWhole = this.add(chain.targetAt(i), out);
    if (!isWhole) out.clear(TargetHashes.unknown);
  }

  private add(nameAt: number, out: TargetHashes): boolean {
    const { hashes, chain } = this;
    if (hashes.compute(chain.names, nameAt) < 0) return false;
    if (out.size + hashes.savedWords > out.words.length) return false;
    out.size = hashes.save(out.words, out.size);
    out.count++;
    return true;
  }
}

export const TargetVerdict = { pass: 0, block: 1, malformed: 2, tooMany: 3 } as const;
export type TargetVerdict = (typeof TargetVerdict)[keyof typeof TargetVerdict];

interface TargetInspectorOptions {
  readonly source: PolicySource;
  /** False: targets are judged by orders and mandatory categories alone. */
  readonly isEnabled: boolean;
}

/** Applies the policy to the names that a response leads to (decisions §7, §14). Allocates nothing. */
export class TargetInspector {
  private readonly chain = new AnswerChain();
  /** What holds for the queried name. */
  private readonly own = new Decision();

  constructor(private readonly options: TargetInspectorOptions) {}

  /**
   * Applies the profile of the subscriber. One blocked target blocks the response, and becomes what was decided. An
   * explicit allow of the queried name permits all targets, except for orders; an explicit allow of a target permits
   * nothing else.
   * @param cached the hashes of its targets, if it comes from the cache
   */
  inspect(query: DecidedQuery, response: Response, cached: TargetHashes | null): TargetVerdict {
    const policy = this.inspectingPolicy(query.decision);
    if (policy === null) return TargetVerdict.pass;
    const isKnown = cached !== null && cached.count !== TargetHashes.unknown;
    const verdict = isKnown
      ? this.judgeHashes(policy, query, cached)
      : this.judgeNames(policy, query, response);
    // It passes for the reason that holds for the queried name.
    if (verdict !== TargetVerdict.block) copyVerdict(this.own, query.decision);
    return verdict;
  }

  /** Whether the target of a CNAME record is blocked, as by `inspect`. The hashes of the query become its hashes. */
  blocks(query: DecidedQuery, target: Uint8Array): boolean {
    query.hashes.compute(target, 0);
    const policy = this.inspectingPolicy(query.decision);
    if (policy === null) return false;
    if (this.isBlocked(policy, query)) return true;
    copyVerdict(this.own, query.decision);
    return false;
  }

  hasSay({ decision }: DecidedQuery): boolean {
    return this.inspectingPolicy(decision) !== null;
  }

  /** The policy, when it has a say about targets. Takes down what holds for the queried name. */
  private inspectingPolicy(decision: Decision): PolicyReader | null {
    const { policy } = this.options.source;
    copyVerdict(decision, this.own);
    return policy !== null && (this.isByProfile() || policy.hasOrders) ? policy : null;
  }

  private isByProfile(): boolean {
    return this.options.isEnabled && this.own.verdict === Verdict.permit && !this.own.explicitAllow;
  }

  private isBlocked(policy: PolicyReader, { hashes, decision }: DecidedQuery): boolean {
    if (this.isByProfile()) policy.judge(hashes, decision);
    else policy.judgeOrders(hashes, decision);
    return decision.verdict === Verdict.block;
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

  private judgeHashes(
    policy: PolicyReader,
    query: DecidedQuery,
    targets: TargetHashes,
  ): TargetVerdict {
    let at = 0;
    for (let i = 0; i < targets.count; i++) {
      at = query.hashes.load(targets.words, at);
      if (this.isBlocked(policy, query)) return TargetVerdict.block;
    }
    return TargetVerdict.pass;
  }
}

function copyVerdict(from: Decision, to: Decision): void {
  to.verdict = from.verdict;
  to.reason = from.reason;
  to.explicitAllow = from.explicitAllow;
  to.matchedId = from.matchedId;
  to.matchedLabels = from.matchedLabels;
}
