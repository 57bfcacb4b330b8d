import { RuleVerdict } from '@weir/config-model';
import type { SuffixHashes } from '@weir/dns-name';
import type { CatalogueIndex, CategoryRewrite } from './catalogue-index.js';
import { Decision, Reason, Verdict } from './decision.js';
import type { PolicySpaces } from './policy-spaces.js';
import { ProfileLookup } from './profiles/profiles.js';
import { DomainRuleLookup } from './rules/domain-rules.js';
import { OrderLookup } from './rules/orders.js';
import { TimedRuleLookup } from './rules/timed-rules.js';
import type { ZoneClock } from './schedules/zone-clock.js';

/** A step of the evaluation, named by the reason that it gives when it decides. */
type RuleStep = Exclude<Reason, (typeof Reason)['noProfile' | 'outsideRanges' | 'none']>;

/** What a step says of a name, whether or not it is the one that decides. */
export interface StepVerdict {
  readonly step: RuleStep;
  /** 0: it says nothing. */
  readonly verdict: RuleVerdict | 0;
  /** As `Decision.matchedLabels` and `Decision.matchedId` would be if this step decided. */
  readonly matchedLabels: number;
  readonly matchedId: number;
}

/*
 * The order of precedence (decisions §14, §15, §7): orders, mandatory categories, grants, then the steps of the
 * profile. The first step that matches decides; if none does, the name is permitted.
 */
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
const NO_IDS: readonly number[] = [];

/** Judges names by the rules of profiles. One evaluator serves all queries; `judge` allocates nothing. */
export class RuleEvaluator {
  private index: CatalogueIndex | null = null;
  readonly profiles: ProfileLookup;
  readonly orders: OrderLookup;
  private mandatoryIds = NO_IDS;
  private readonly domainRules: DomainRuleLookup;
  private readonly orderRules: TimedRuleLookup;
  private readonly grants: TimedRuleLookup;
  /** The membership set of each suffix of the current name, valid when `isLookedUp`. */
  private readonly memberships = new Int32Array(MAX_LABELS);
  private isLookedUp = false;
  /** Suffixes that the catalogue may list, and those that the profile may have rules for: see `candidateMask`. */
  private catalogueCandidates = 0;
  private ruleCandidates = 0;
  private orderCandidates = 0;
  /** Keeps what was prefetched, so that the compiler does not remove the reads. */
  protected sink = 0;

  constructor(
    spaces: PolicySpaces,
    private readonly clock: ZoneClock,
  ) {
    this.profiles = new ProfileLookup(spaces.profiles, spaces.profileLists);
    this.domainRules = new DomainRuleLookup(spaces.domainRules, this.profiles.records);
    this.orders = new OrderLookup(spaces);
    this.orderRules = this.orders.rules;
    this.grants = new TimedRuleLookup({ tables: spaces.grantTables, records: spaces.grants });
  }

  get catalogue(): CatalogueIndex | null {
    return this.index;
  }

  setCatalogue(index: CatalogueIndex | null): void {
    this.index = index;
    this.mandatoryIds = index?.mandatoryIds ?? NO_IDS;
  }

  get hasOrders(): boolean {
    return this.mandatoryIds.length > 0 || !this.orderRules.isEmpty;
  }

  /** What all steps say of a name, in order of precedence, for the client of a decision. Allocates. */
  ladder({ activeSlot, ownSlot }: Decision, names: SuffixHashes): StepVerdict[] {
    this.prefetch(activeSlot, names);
    const out = new Decision();
    const says = (step: RuleStep, slot: number): StepVerdict => {
      const verdict = this.evaluate(step, slot, names, out);
      const isCategory = step === Reason.category || step === Reason.mandatoryCategory;
      const isSecret = isCategory && this.hideSecret(out);
      const { matchedLabels, matchedId } = out;
      // Whether a profile blocks a secret category as well is hidden too.
      const isHidden = isSecret && step === Reason.category;
      return { step, verdict: isHidden ? 0 : verdict, matchedLabels, matchedId };
    };
    const [order, category] = [says(Reason.order, -1), says(Reason.mandatoryCategory, -1)];
    // Together they are one step.
    const first = order.verdict === 0 && category.verdict !== 0 ? category : order;
    if (activeSlot < 0) return [first];
    const ofProfile = this.stepsOf(activeSlot).map((step) => says(step, activeSlot));
    return [first, says(Reason.grant, ownSlot), ...ofProfile];
  }

  /** Hides which suffix and which category it was, if it is a secret one. @returns whether it is. */
  hideSecret(out: Decision): boolean {
    if (this.catalogue?.category(out.matchedId)?.secret !== true) return false;
    out.matchedLabels = 0;
    out.matchedId = -1;
    return true;
  }

  private stepsOf(slot: number): readonly RuleStep[] {
    return this.profiles.isAppawarePriority(slot) ? APPLICATION_RULES_FIRST : DOMAIN_RULES_FIRST;
  }

  /** Sets what `PolicyReader.judge` sets. @param slot of the active profile; −1: none, or its rules do not matter. */
  judge(slot: number, names: SuffixHashes, out: Decision): void {
    if (slot >= 0 || this.hasOrders) this.judgeSteps(slot, names, out);
    else setUndecided(slot, out);
    out.rewrite = out.verdict === Verdict.permit ? this.rewriteOf(slot, names) : null;
  }

  /** The first of the blocked categories that rewrite this name; null: there is none. */
  private rewriteOf(slot: number, names: SuffixHashes): CategoryRewrite | null {
    const { catalogue, profiles } = this;
    if (catalogue === null || profiles.categoryCount(slot) === 0) return null;
    const rewrites = catalogue.rewritesOf(names);
    for (let i = 0; i < rewrites.length; i++) {
      if (profiles.categoryVerdict(slot, rewrites[i].categoryId) !== 0) return rewrites[i];
    }
    return null;
  }

  private judgeSteps(slot: number, names: SuffixHashes, out: Decision): void {
    this.prefetch(slot, names);
    // Few names have an order, and few profiles a grant: these steps must cost the others nothing.
    if (this.orderCandidates !== 0 && this.decides(Reason.order, -1, names, out)) return;
    if (this.mandatoryIds.length > 0 && this.decides(Reason.mandatoryCategory, -1, names, out))
      return;
    if (slot < 0) return setUndecided(slot, out);
    const { ownSlot } = out;
    if (this.profiles.isGranted(ownSlot) && this.decides(Reason.grant, ownSlot, names, out)) return;
    const steps = this.stepsOf(slot);
    for (let i = 0; i < steps.length; i++) if (this.decides(steps[i], slot, names, out)) return;
    setUndecided(slot, out);
  }

  /**
   * Evaluates one step. If it matches, its decision is written to `out`.
   * @param slot of the profile with the rules; its block page is shown. −1: the rules are for everybody.
   * @returns whether it matches.
   */
  private decides(step: RuleStep, slot: number, names: SuffixHashes, out: Decision): boolean {
    const verdict = this.evaluate(step, slot, names, out);
    if (verdict === 0) return false;
    const { profiles } = this;
    out.reason = step;
    out.verdict = verdict === RuleVerdict.allow ? Verdict.permit : Verdict.block;
    // Only rules can allow. The other steps deny, or do not match.
    out.explicitAllow = verdict === RuleVerdict.allow;
    if (verdict === RuleVerdict.allow) return true;
    out.pageId = slot < 0 ? -1 : profiles.pageId(slot);
    out.emptyDnsAnswer = slot >= 0 && profiles.isEmptyDnsAnswer(slot);
    return true;
  }

  /**
   * Reads what catalogue and rules need for all suffixes at once. Tables of this size are not in the cache of the
   * processor, and one lookup after the other would wait for memory each time.
   */
  private prefetch(slot: number, names: SuffixHashes): void {
    this.isLookedUp = false;
    const isListed = slot >= 0 || this.mandatoryIds.length > 0;
    this.catalogueCandidates =
      this.catalogue !== null && isListed ? this.catalogue.candidateMask(names) : 0;
    this.orderCandidates = this.orderRules.candidateMask(names);
    if (slot < 0) return;
    this.ruleCandidates = this.domainRules.candidateMask(slot, names);
    if (this.catalogueCandidates !== 0) this.sink = this.profiles.prefetchLists(slot);
  }

  /** Evaluates one step; 0: no match. Sets what matched. @param slot as for `decides`. */
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
      case Reason.order:
        return this.matchOrders(names, out);
      case Reason.grant:
        return this.matchGrants(slot, names, out);
      case Reason.domainRule:
        return this.ruleCandidates !== 0 ? this.matchDomainRules(slot, names, out) : 0;
      case Reason.applicationRule:
        return this.catalogueCandidates !== 0 && profiles.applicationCount(slot) > 0
          ? this.matchApplications(slot, names, out)
          : 0;
      case Reason.whiteListOnly:
        return profiles.isWhiteListOnly(slot) ? RuleVerdict.deny : 0;
      case Reason.category:
        return this.catalogueCandidates !== 0 && profiles.categoryCount(slot) > 0
          ? this.matchCategories(slot, names, out)
          : 0;
      case Reason.mandatoryCategory:
        return this.catalogueCandidates !== 0 ? this.matchCategories(-1, names, out) : 0;
    }
  }

  /** The order for the longest suffix, and of several for it that with the lowest id. */
  private matchOrders(names: SuffixHashes, out: Decision): RuleVerdict | 0 {
    const { orderRules } = this;
    for (let i = names.count - 1; i >= 0; i--) {
      if (!isCandidate(this.orderCandidates, i)) continue;
      const order = orderRules.find(-1, names, i, this.clock);
      if (order < 0) continue;
      out.orderNumber = order;
      out.matchedId = orderRules.owner(order);
      return this.matchTimed(orderRules, order, i, out);
    }
    return 0;
  }

  private matchGrants(slot: number, names: SuffixHashes, out: Decision): RuleVerdict | 0 {
    const { grants } = this;
    for (let i = names.count - 1; i >= 0; i--) {
      const grant = grants.find(slot, names, i, this.clock);
      if (grant >= 0) return this.matchTimed(grants, grant, i, out);
    }
    return 0;
  }

  /** No answer may outlive the rule. */
  private matchTimed(
    rules: TimedRuleLookup,
    rule: number,
    suffix: number,
    out: Decision,
  ): RuleVerdict {
    const seconds = rules.secondsLeft(rule, this.clock);
    out.ttlCapSeconds = Math.max(1, Math.min(out.ttlCapSeconds, seconds));
    out.matchedLabels = suffix + 1;
    return rules.verdict(rule);
  }

  private matchDomainRules(slot: number, names: SuffixHashes, out: Decision): RuleVerdict | 0 {
    for (let i = names.count - 1; i >= 0; i--) {
      if (!isCandidate(this.ruleCandidates, i)) continue;
      const verdict = this.domainRules.findSuffix(slot, names, i);
      if (verdict !== 0) {
        out.matchedLabels = i + 1;
        return verdict;
      }
    }
    return 0;
  }

  /** The rule for the longest suffix that an application with one lists. Of several there an allowed one wins. */
  private matchApplications(slot: number, names: SuffixHashes, out: Decision): RuleVerdict | 0 {
    const { catalogue, profiles } = this;
    if (catalogue === null) return 0;
    this.lookUp(catalogue, names);
    const words = catalogue.memberships;
    for (let i = names.count - 1; i >= 0; i--) {
      const set = this.memberships[i];
      if (set === 0) continue;
      const first = set + 2 + words[set];
      const end = first + words[set + 1];
      let verdict: RuleVerdict | 0 = 0;
      for (let at = first; at < end && verdict !== RuleVerdict.allow; at++) {
        const found = profiles.applicationVerdict(slot, words[at]);
        if (found === 0 || found === verdict) continue;
        verdict = found;
        out.matchedLabels = i + 1;
        out.matchedId = words[at];
      }
      if (verdict !== 0) return verdict;
    }
    return 0;
  }

  /** The lowest blocked category for the name or a parent (decisions §12). @param slot −1: mandatory categories. */
  private matchCategories(slot: number, names: SuffixHashes, out: Decision): RuleVerdict | 0 {
    const { catalogue } = this;
    if (catalogue === null) return 0;
    this.lookUp(catalogue, names);
    const words = catalogue.memberships;
    let lowest = -1;
    for (let i = names.count - 1; i >= 0; i--) {
      const set = this.memberships[i];
      if (set === 0) continue;
      const end = set + 2 + words[set];
      for (let at = set + 2; at < end && (lowest < 0 || words[at] < lowest); at++) {
        if (!this.isBlocked(slot, words[at])) continue;
        lowest = words[at];
        out.matchedLabels = i + 1;
      }
    }
    out.matchedId = lowest;
    return lowest < 0 ? 0 : RuleVerdict.deny;
  }

  private isBlocked(slot: number, categoryId: number): boolean {
    if (slot >= 0) return this.profiles.categoryVerdict(slot, categoryId) !== 0;
    return this.mandatoryIds.includes(categoryId);
  }

  /** Looks the suffixes up once for each name: applications and categories use the same sets. */
  private lookUp(catalogue: CatalogueIndex, names: SuffixHashes): void {
    if (this.isLookedUp) return;
    this.isLookedUp = true;
    for (let i = names.count - 1; i >= 0; i--) {
      this.memberships[i] = isCandidate(this.catalogueCandidates, i) ? catalogue.find(names, i) : 0;
    }
  }
}

/** No step decides. */
function setUndecided(slot: number, out: Decision): void {
  out.matchedLabels = 0;
  out.matchedId = -1;
  out.explicitAllow = false;
  if (slot >= 0) {
    out.reason = Reason.none;
    out.verdict = Verdict.permit;
  } else {
    out.reason = out.isOutsideRanges ? Reason.outsideRanges : Reason.noProfile;
    out.verdict = Verdict.unfiltered;
  }
}

/** Whether the bit of a suffix is set. Bit 31 is for all suffixes from index 31. */
function isCandidate(mask: number, suffix: number): boolean {
  return ((mask >>> Math.min(suffix, 31)) & 1) !== 0;
}
