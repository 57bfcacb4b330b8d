import type { Client } from './client.js';
import { type Decision, NO_TTL_CAP, Reason, Verdict } from './decision.js';
import type { Lookups } from './lookups.js';
import type { RuleEvaluator, RuleStep } from './rule-evaluator.js';
import type { ProfileLookup } from './profiles/profile-lookup.js';

/** A decision with its reasons, one line for each step. No line names a domain, as the policy knows only hashes. */
export interface Explanation {
  readonly decision: Decision;
  readonly lines: readonly string[];
}

/** Explains a decision that was just made for this client. All lines come from the decision itself. */
export function explain(
  lookups: Lookups,
  evaluator: RuleEvaluator,
  client: Client,
  decision: Decision,
): string[] {
  const lines = [describeSubscriber(lookups, client)];
  const slot = decision.activeSlot;
  if (decision.isOutsideRanges) return [...lines, 'verdict: refused'];
  if (slot < 0) return [...lines, 'verdict: unfiltered, or refused (DNS_ALLOWED_CLIENTS)'];
  lines.push(describeSchedule(lookups, client, decision), describeOrder(lookups.profiles, slot));
  for (const step of evaluator.stepsOf(slot)) {
    if (step === decision.reason) {
      lines.push(`${describeMatch(step, decision)}: this decides`);
      break;
    }
    lines.push(describeNoMatch(step, lookups, evaluator, slot));
  }
  if (decision.reason === Reason.none) lines.push('no rule and no category matches the name');
  lines.push(describeVerdict(decision), describeCap(decision));
  return lines;
}

function describeSubscriber({ subscribers, profiles }: Lookups, client: Client): string {
  const slot = subscribers.find(client);
  const match = `subscriber: ${subscribers.describe(client)}`;
  if (slot < 0) return `${match}, no profile`;
  const exists = profiles.exists(slot);
  return `${match}, profile ${profiles.id(slot)}${exists ? '' : ', which does not exist'}`;
}

function describeSchedule(
  { subscribers, schedules, profiles }: Lookups,
  client: Client,
  decision: Decision,
): string {
  const active = `profile ${decision.activeProfileId} decides`;
  if (!schedules.find(subscribers.find(client))) return `schedule: none, ${active}`;
  const until = Number.isFinite(schedules.untilMs)
    ? `until ${new Date(schedules.untilMs).toISOString()}`
    : 'for good';
  if (!schedules.isInside) return `schedule: outside of its periods ${until}, ${active}`;
  const target = `profile ${profiles.id(schedules.targetSlot)}`;
  if (!profiles.exists(schedules.targetSlot)) {
    return `schedule: inside a period ${until}, but its target ${target} does not exist, ${active}`;
  }
  return `schedule: inside a period ${until}, ${active}`;
}

function describeOrder(profiles: ProfileLookup, slot: number): string {
  return profiles.isAppawarePriority(slot)
    ? 'order: application rules before domain rules (appaware_priority_over_bwlists)'
    : 'order: domain rules before application rules';
}

/** The step that decided. */
function describeMatch(step: RuleStep, { verdict, matchedId, matchedLabels }: Decision): string {
  const effect = verdict === Verdict.permit ? 'allowed' : 'denied';
  const suffix = matchedLabels === 1 ? 'the last label' : `the last ${matchedLabels} labels`;
  switch (step) {
    case Reason.domainRule:
      return `domain rules: ${suffix} of the name ${effect}`;
    case Reason.applicationRule:
      return `application rules: application ${matchedId}, which lists ${suffix} of the name, ${effect}`;
    case Reason.whiteListOnly:
      return 'white_list_only: on, and no rule allows the name';
    case Reason.category:
      return `categories: ${matchedId}, which lists ${suffix} of the name, blocked`;
  }
}

/** A step that did not match. */
function describeNoMatch(
  step: RuleStep,
  { profiles, domainRules }: Lookups,
  { catalogue }: RuleEvaluator,
  slot: number,
): string {
  const how =
    catalogue === null ? 'is asked, as there is no catalogue' : 'lists the name or a parent';
  switch (step) {
    case Reason.domainRule:
      return `domain rules: none of ${domainRules.count(slot)} is for the name or a parent`;
    case Reason.applicationRule:
      return `application rules: none of ${profiles.applicationCount(slot)} ${how}`;
    case Reason.whiteListOnly:
      return 'white_list_only: off';
    case Reason.category:
      return `categories: none of ${profiles.categoryCount(slot)} blocked ${how}`;
  }
}

function describeVerdict(decision: Decision): string {
  const { verdict, explicitAllow, emptyDnsAnswer, pageId, rewrite } = decision;
  if (rewrite !== null)
    return `verdict: permit, rewritten by blocked category ${rewrite.categoryId}`;
  if (verdict === Verdict.permit) {
    return explicitAllow
      ? 'verdict: permit, whatever its answer leads to'
      : 'verdict: permit, unless what its answer leads to is blocked (INSPECT_CNAME)';
  }
  if (emptyDnsAnswer) return 'verdict: block, empty answer';
  return `verdict: block, ${pageId < 0 ? 'default block page' : `block page ${pageId}`}`;
}

function describeCap({ ttlCapSeconds }: Decision): string {
  if (ttlCapSeconds === NO_TTL_CAP) return 'next switch: none';
  return `next switch: in ${ttlCapSeconds} s, no answer lives longer`;
}
