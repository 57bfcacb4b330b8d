import { type PutOperation, RuleVerdict } from '@weir/config-model';
import type { SuffixHashes } from '@weir/dns-name';
import { type CatalogueIndex, Reason } from '@weir/policy';
import type { FlipDto } from './explain.dto.js';
import type { QueryOutcome } from './model-resolver.js';
import { hashOf } from './steps.js';

/** A call of the management API, and what it makes of the entities that decide. */
export interface PossibleCall {
  readonly call: FlipDto;
  readonly entities: readonly PutOperation[];
}

interface Situation {
  readonly domain: string;
  readonly domainHash: number;
  readonly catalogue: CatalogueIndex | null;
  readonly entities: readonly PutOperation[];
  readonly outcome: QueryOutcome;
}

/**
 * The calls that may turn the verdict over, the least far-reaching first. Each ends a grant of the active profile, or
 * changes its rules for one name or for applications.
 */
export function possibleCalls(situation: Situation): PossibleCall[] {
  return [...grantCalls(situation), ...domainCalls(situation), ...applicationCalls(situation)];
}

/** A grant is of the subscriber's own profile, which may be another one than the active one (decisions §15). */
function grantCalls({ entities, outcome }: Situation): PossibleCall[] {
  const { steps, decision } = outcome.explanation;
  const { profileId } = decision;
  const step = steps.find((one) => one.step === Reason.grant);
  if (!step || step.verdict === 0 || profileId !== decision.activeProfileId) return [];
  const id = hashOf(outcome.hashes, step.matchedLabels);
  const path = `/profile/${profileId}/grants/${id}`;
  return [
    {
      call: { method: 'DELETE', path, body: null },
      entities: entities.filter(
        ({ kind, entity }) =>
          kind !== 'grant' || entity.profileId !== profileId || entity.domainHash !== id,
      ),
    },
  ];
}

function domainCalls({ domain, domainHash, entities, outcome }: Situation): PossibleCall[] {
  const profileId = outcome.explanation.decision.activeProfileId;
  const others = entities.filter(
    ({ kind, entity }) =>
      kind !== 'domainRule' || entity.profileId !== profileId || entity.domainHash !== domainHash,
  );
  const path = `/profile/${profileId}/bw_list`;
  const type = outcome.verdict === 'deny' ? 'allow' : 'deny';
  const verdict = RuleVerdict[type];
  const set: PossibleCall = {
    call: { method: 'POST', path, body: { type, domain } },
    entities: [
      ...others,
      { type: 'put', kind: 'domainRule', entity: { profileId, domainHash, verdict } },
    ],
  };
  if (others.length === entities.length) return [set];
  const remove: PossibleCall = {
    call: { method: 'DELETE', path: `${path}/${domain}`, body: null },
    entities: others,
  };
  return [remove, set];
}

function applicationCalls({ catalogue, entities, outcome }: Situation): PossibleCall[] {
  const { steps, decision } = outcome.explanation;
  const isDenied = outcome.verdict === 'deny';
  const step = steps.find((one) => one.step === Reason.applicationRule);
  if (catalogue === null || !step || step.verdict === 0) return [];
  const { activeProfileId } = decision;
  const profile = entities.find(
    ({ kind, entity }) => kind === 'profile' && entity.id === activeProfileId,
  );
  if (profile?.kind !== 'profile') return [];
  const listing = listedBy(catalogue, outcome.hashes, step.matchedLabels - 1);
  const before = isDenied ? RuleVerdict.deny : RuleVerdict.allow;
  const ids = profile.entity.applicationRules
    .filter(({ applicationId, verdict }) => verdict === before && listing.includes(applicationId))
    .map(({ applicationId }) => applicationId);
  // One application that allows is enough; to deny, all that allow must deny.
  const changed = isDenied ? ids.slice(0, 1) : ids;
  if (changed.length === 0) return [];
  const status = isDenied ? 'allow' : 'deny';
  const path = `/profile/${activeProfileId}/app_aware`;
  const call: FlipDto =
    changed.length === 1
      ? { method: 'POST', path, body: { app_id: changed[0], status } }
      : { method: 'POST', path: `${path}/batch`, body: { app_ids: changed, status } };
  const applicationRules = profile.entity.applicationRules.map((rule) =>
    changed.includes(rule.applicationId) ? { ...rule, verdict: RuleVerdict[status] } : rule,
  );
  const entity = { ...profile.entity, applicationRules };
  return [
    { call, entities: entities.map((one) => (one === profile ? { ...profile, entity } : one)) },
  ];
}

/** The applications that list the suffix with that index. */
function listedBy(catalogue: CatalogueIndex, names: SuffixHashes, suffix: number): number[] {
  const { memberships } = catalogue;
  const set = catalogue.find(names, suffix);
  if (set === 0) return [];
  const first = set + 2 + memberships[set];
  return Array.from(memberships.subarray(first, first + memberships[set + 1]));
}
