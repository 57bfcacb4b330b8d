import { RuleVerdict } from '@weir/config-model';
import { hashDomain, type HashKey } from '@weir/dns-name';
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

/** The ladder of decisions §12. */
export function stepsOf(
  { special, verdict, explanation: { steps } }: QueryOutcome,
  name: string,
  catalogue: CatalogueIndex | null,
  listing: ListedName | undefined,
  key: HashKey,
): Json<StepDto>[] {
  const decided = steps.find((one) => one.verdict !== 0);
  const isRefused = verdict === 'refused';
  return [
    ...(special === null
      ? []
      : [
          {
            step: 'special',
            verdict: verdict === 'deny' ? 'deny' : 'allow',
            matched: special,
            decided: true,
          } as const,
        ]),
    ...steps.map((one) => ({
      step: STEP_NAMES[one.step],
      verdict: verdictOf(one),
      matched: suffixOf(name, one.matchedLabels),
      decided: one === decided && special === null,
      ...idsOf(one, name, catalogue, listing, key),
    })),
    {
      step: 'default',
      verdict: isRefused ? 'deny' : 'allow',
      matched: null,
      decided: decided === undefined && special === null,
    },
  ];
}

function verdictOf({ verdict }: StepVerdict): StepDto['verdict'] {
  if (verdict === 0) return 'none';
  return verdict === RuleVerdict.allow ? 'allow' : 'deny';
}

export function suffixOf(name: string, labels: number): string | null {
  return labels === 0 ? null : name.split('.').slice(-labels).join('.');
}

function idsOf(
  { step, verdict, matchedLabels, matchedId }: StepVerdict,
  name: string,
  catalogue: CatalogueIndex | null,
  listing: ListedName | undefined,
  key: HashKey,
): Omit<StepDto, 'step' | 'verdict' | 'matched' | 'decided'> {
  if (step === Reason.grant) {
    return verdict === 0 ? {} : { grant_id: hashDomain(suffixOf(name, matchedLabels) ?? '', key) };
  }
  if (matchedId < 0) return {};
  if (step === Reason.order) return { order_id: matchedId };
  return step === Reason.applicationRule
    ? { app_id: matchedId, name: catalogue?.applicationName(matchedId) ?? '' }
    : {
        ...{ cat_id: matchedId, name: catalogue?.category(matchedId)?.name ?? '' },
        // It is that of the category that the profile blocks.
        ...(step === Reason.category &&
          listing && {
            source: listing.source ?? 'inline',
            listed_since: listing.since.toISOString(),
          }),
      };
}
