import { RuleVerdict } from '@weir/config-model';
import type { SuffixHashes } from '@weir/dns-name';
import type { CatalogueIndex } from './catalogue-index.js';
import { type Decision, Reason, Verdict } from './decision.js';
import type { Profiles } from './profiles/profiles.js';
import type { DomainRules } from './rules/domain-rules.js';

/** A step of the evaluator is named by the reason it gives when it decides. */
export type RuleStep = (typeof Reason)[
  'domainRule' | 'applicationRule' | 'whiteListOnly' | 'category'];

/** The order in which a profile decides (decisions §7): the first step that says allow or deny. None: permitted. */
const DOMAIN_RULES_FIRST: readonly RuleStep[] = [
  Reason.domainRule,
  Reason.applicationRule,
  Reason.whiteListOnly,
  Reason.category,
];
const APPLICATION_RULES_FIRST: readonly RuleStep[] = [
  Reason.applicationRule,
  Reason.domainRule,
  Reason.whiteListOnly,
  Reason.category,
];

const MAX_LABELS = 127;

/** Judges names by profiles. Reused: allocates nothing. */
export class RuleEvaluator {
  catalogue: CatalogueIndex | null = null;
  /** Membership set of each suffix of the name being judged, once looked up. */
  private readonly memberships = new Int32Array(MAX_LABELS);
  private isLookedUp = false;
  /** Suffixes that the catalogue may list, and those that the profile may have rules for (see `CatalogueIndex.candidateMask`). */
  private catalogueCandidates = 0;
  private ruleCandidates = 0;
  /** What was read ahead, so that the reading is not optimised away. */
  protected sink = 0;

  constructor(
    private readonly profiles: Profiles,
    private readonly domainRules: DomainRules,
  ) {}

  /** The steps of a profile in their order. */
  stepsOf(slot: number): readonly RuleStep[] {
    return this.profiles.isAppawarePriority(slot) ? APPLICATION_RULES_FIRST : DOMAIN_RULES_FIRST;
  }

  /** Fills in what `judge` sets of `out`, by the profile of that slot. */
  judge(slot: number, names: SuffixHashes, out: Decision): void {
    this.prefetch(slot, names);
    const steps = this.stepsOf(slot);
    for (let i = 0; i < steps.length; i++) {
      const step = steps[i];
      const verdict = this.evaluate(step, slot, names, out);
      if (verdict !== 0) {
        out.reason = step;
        out.verdict = verdict === RuleVerdict.allow ? Verdict.permit : Verdict.block;
        // Only rules allow; the other steps deny or say nothing.
        out.explicitAllow = verdict === RuleVerdict.allow;
        return;
      }
    }
    out.reason = Reason.none;
    out.verdict = Verdict.permit;
    out.explicitAllow = false;
  }

  /**
   * Asks catalogue and rules about all suffixes at once. Tables of this size are not in the processor's cache, and lookups one after the
   * other would wait for memory each.
   */
  private prefetch(slot: number, names: SuffixHashes): void {
    this.isLookedUp = false;
    this.catalogueCandidates = this.catalogue === null ? 0 : this.catalogue.candidateMask(names);
    this.ruleCandidates = this.domainRules.candidateMask(slot, names);
    if (this.catalogueCandidates !== 0) this.sink = this.profiles.prefetchLists(slot);
  }

  /** What one step says: allow, deny or nothing (0). Sets which suffix and which application or category it went by. */
  private evaluate(
    step: RuleStep,
    slot: number,
    names: SuffixHashes,
    out: Decision,
  ): RuleVerdict | 0 {
    const { profiles } = this;
    out.matchedLabels = 0;
    out.matchedId = -1;
    switch (step) {
      case Reason.domainRule:
        return this.ruleCandidates !== 0 ? this.matchDomainRules(slot, names, out) : 0;
      case Reason.applicationRule:
        return this.catalogueCandidates !== 0 && profiles.applicationCount(slot) > 0
          ? this.matchMemberships(step, slot, names, out)
          : 0;
      case Reason.whiteListOnly:
        return profiles.isWhiteListOnly(slot) ? RuleVerdict.deny : 0;
      case Reason.category:
        return this.catalogueCandidates !== 0 && profiles.categoryCount(slot) > 0
          ? this.matchMemberships(step, slot, names, out)
          : 0;
    }
  }

  /** The rule for the longest suffix. */
  private matchDomainRules(slot: number, names: SuffixHashes, out: Decision): RuleVerdict | 0 {
    for (let i = names.count - 1; i >= 0; i--) {
      if (!has(this.ruleCandidates, i)) continue;
      const verdict = this.domainRules.findSuffix(slot, names, i);
      if (verdict !== 0) {
        out.matchedLabels = i + 1;
        return verdict;
      }
    }
    return 0;
  }

  /**
   * Of the longest suffix that lists an application with a rule, or a blocked category; of several there, the first, but one that is
   * allowed wins.
   */
  private matchMemberships(
    step: typeof Reason.applicationRule | typeof Reason.category,
    slot: number,
    names: SuffixHashes,
    out: Decision,
  ): RuleVerdict | 0 {
    const { catalogue, profiles } = this;
    if (catalogue === null) return 0;
    this.lookUp(catalogue, names);
    const words = catalogue.memberships;
    const isOfApplications = step === Reason.applicationRule;
    for (let i = names.count - 1; i >= 0; i--) {
      const set = this.memberships[i];
      if (set === 0) continue;
      const applications = set + 2 + words[set];
      const first = isOfApplications ? applications : set + 2;
      const end = isOfApplications ? applications + words[set + 1] : applications;
      let verdict: RuleVerdict | 0 = 0;
      for (let at = first; at < end && verdict !== RuleVerdict.allow; at++) {
        const id = words[at];
        const said = isOfApplications
          ? profiles.applicationVerdict(slot, id)
          : profiles.categoryVerdict(slot, id);
        if (said === 0 || said === verdict) continue;
        verdict = said;
        out.matchedLabels = i + 1;
        out.matchedId = id;
      }
      if (verdict !== 0) return verdict;
    }
    return 0;
  }

  /** Once a name: applications and categories go by the same sets. */
  private lookUp(catalogue: CatalogueIndex, names: SuffixHashes): void {
    if (this.isLookedUp) return;
    this.isLookedUp = true;
    for (let i = names.count - 1; i >= 0; i--) {
      this.memberships[i] = has(this.catalogueCandidates, i) ? catalogue.find(names, i) : 0;
    }
  }
}

/** Whether a suffix's bit is set, in a mask whose bit 31 stands for all from there on. */
function has(mask: number, suffix: number): boolean {
  return ((mask >>> Math.min(suffix, 31)) & 1) !== 0;
}
