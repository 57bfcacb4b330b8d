import { RuleVerdict } from '@weir/config-model';
import { cutHash, type SuffixHashes } from '@weir/dns-name';
import { type CatalogueIndex, Reason, type StepVerdict } from '@weir/policy';
import type { ListedName } from '../catalogue/store/name-search.js';
import type { Json } from '../http/validation/dto.js';
import type { StepDto, StepName } from './explain.dto.js';
import type { QueryOutcome } from './model-resolver.js';

const STEP_NAMES: Readonly<Record<StepVerdict['step'], StepName>> = {
  [Reason.order]: 'order',
  [Reason.mandatoryCategory]: 'order',
  [Reason.grant]: 'grant',
  [Reason.domainRule]: 'domain_rule',
  [Reason.applicationRule]: 'application',
  [Reason.whiteListOnly]: 'white_list_only',
  [Reason.category]: 'category',
};

/** Undefined: no step of the policy did, but the name itself, or that the client is refused or let through. */
export function decidingStep({
  special,
  verdict,
  explanation: { steps },
}: QueryOutcome): StepVerdict | undefined {
  if (special !== null || verdict === 'refused') return undefined;
  return steps.find((one) => one.verdict !== 0);
}

/** The ladder of decisions §12. */
export function stepsOf(
  outcome: QueryOutcome,
  name: string,
  catalogue: CatalogueIndex | null,
  listing: ListedName | undefined,
): Json<StepDto>[] {
  const { special, verdict, hashes, explanation } = outcome;
  const decided = decidingStep(outcome);
  const ofSpecial: Json<StepDto> = {
    step: 'special',
    verdict: verdict === 'deny' ? 'deny' : 'allow',
    matched: special,
    decided: true,
  };
  return [
    ...(special === null ? [] : [ofSpecial]),
    ...explanation.steps.map((one) => ({
      step: STEP_NAMES[one.step],
      verdict: verdictOf(one),
      matched: suffixOf(name, one.matchedLabels),
      decided: one === decided,
      ...idsOf(one, hashes, catalogue, listing),
    })),
    {
      step: 'default',
      verdict: verdict === 'refused' ? 'deny' : 'allow',
      matched: null,
      decided: decided === undefined && special === null,
    },
  ];
}

function verdictOf({ verdict }: StepVerdict): StepDto['verdict'] {
  if (verdict === 0) return 'none';
  return verdict === RuleVerdict.allow ? 'allow' : 'deny';
}

function suffixOf(name: string, labels: number): string | null {
  return labels === 0 ? null : name.split('.').slice(-labels).join('.');
}

/** The stored hash of the last labels of a name, at least one of them. */
export function hashOf({ low, high }: SuffixHashes, labels: number): number {
  return cutHash(low[labels - 1], high[labels - 1]);
}

function idsOf(
  { step, verdict, matchedLabels, matchedId }: StepVerdict,
  hashes: SuffixHashes,
  catalogue: CatalogueIndex | null,
  listing: ListedName | undefined,
): Omit<StepDto, 'step' | 'verdict' | 'matched' | 'decided'> {
  if (step === Reason.grant)
    return verdict === 0 ? {} : { grant_id: hashOf(hashes, matchedLabels) };
  if (matchedId < 0) return {};
  if (step === Reason.order) return { order_id: matchedId };
  if (step === Reason.applicationRule) {
    return { app_id: matchedId, name: catalogue?.applicationName(matchedId) ?? '' };
  }
  const category = { cat_id: matchedId, name: catalogue?.category(matchedId)?.name ?? '' };
  // The listing is that of the category that the profile blocks.
  if (step !== Reason.category || listing === undefined) return category;
  const { source, since } = listing;
  return { ...category, source: source ?? 'inline', listed_since: since.toISOString() };
}
