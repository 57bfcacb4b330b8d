import { type PutOperation, RuleVerdict } from '@weir/config-model';
import { cutHash, type SuffixHashes } from '@weir/dns-name';
import { type CatalogueIndex, type Explanation, Reason } from '@weir/policy';
import type { FlipDto } from './explain.dto.js';

/** A call of the management API, and what it makes of the entities that decide. */
export interface PossibleCall {
  readonly call: FlipDto;
  readonly entities: readonly PutOperation[];
}

interface Situation {
  readonly domain: string;
  readonly domainHash: number;
  readonly names: SuffixHashes;
  readonly catalogue: CatalogueIndex | null;
  readonly entities: readonly PutOperation[];
  readonly explanation: Pick<Explanation, 'steps' | 'decision'>;
  readonly isDenied: boolean;
}

/**
 * The calls that may turn the verdict over, the least far-reaching first. Each ends a grant of the active profile, or
 * changes its rules for one name or for applications.
 */
export function possibleCalls(situation: Situation): PossibleCall[] {
  return [...grantCalls(situation), ...domainCalls(situation), ...applicationCalls(situation)];
}

/** A grant is of the subscriber's own profile, which may be another one than the active one (decisions §15). */
function grantCalls({
  names,
  entities,
  explanation: {
    steps,
    decision: { profileId, activeProfileId },
  },
}: Situation): PossibleCall[] {
  const step = steps.find((one) => one.step === Reason.grant);
  if (!step || step.verdict === 0 || profileId !== activeProfileId) return [];
  const suffix = step.matchedLabels - 1;
  const id = cutHash(names.low[suffix], names.high[suffix]);
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

function domainCalls({
  domain,
  domainHash,
  entities,
  explanation: { decision },
  isDenied,
}: Situation): PossibleCall[] {
  const profileId = decision.activeProfileId;
  const others = entities.filter(
    ({ kind, entity }) =>
      kind !== 'domainRule' || entity.profileId !== profileId || entity.domainHash !== domainHash,
  );
  const path = `/profile/${profileId}/bw_list`;
  const verdict = isDenied ? RuleVerdict.allow : RuleVerdict.deny;
  const set: PossibleCall = {
    call: { method: 'POST', path, body: { type: isDenied ? 'allow' : 'deny', domain } },
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

function applicationCalls({
  names,
  catalogue,
  entities,
  explanation: { steps, decision },
  isDenied,
}: Situation): PossibleCall[] {
  const step = steps.find((one) => one.step === Reason.applicationRule);
  if (catalogue === null || !step || step.verdict === 0) return [];
  const { activeProfileId } = decision;
  const profile = entities.find(
    ({ kind, entity }) => kind === 'profile' && entity.id === activeProfileId,
  );
  if (profile?.kind !== 'profile') return [];
  const listing = listedBy(catalogue, names, step.matchedLabels - 1);
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
