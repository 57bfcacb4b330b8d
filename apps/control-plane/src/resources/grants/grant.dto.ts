import { type Grant, MAX_DOMAIN_HASH, MAX_ID, MAX_UNTIL, RuleVerdict } from '@weir/config-model';
import { Example, type Json } from '../../http/validation/dto.js';
import {
  InPlaceOf,
  IntegerParameter,
  IsId,
  IsInteger,
  IsText,
  IsTime,
  Optional,
  RequiredWithout,
} from '../../http/validation/rules.js';
import { IsNormalisedDomain } from '../domain-lists/domain-check.js';
import { IsUntil, toSeconds } from '../orders/order.dto.js';
import { toTimeText } from '../orders/order-store.js';
import { IsRuleStatus, type RuleStatus, toStatus } from '../profiles/profile.dto.js';
import type { GrantKey, GrantPlace } from './grant-store.js';

const MAX_DAYS = 31;

@Example<GrantDto>({ domain: 'example.com', verdict: 'allow', minutes: 30 })
export class GrantDto {
  /** In normal form after validation. The grant covers it and all names below it. */
  @IsNormalisedDomain() domain!: string;
  @IsRuleStatus() verdict!: RuleStatus;

  /** How long it holds. Either this or `until` is required. */
  @RequiredWithout('until') @IsInteger(1, MAX_DAYS * 24 * 60) minutes?: number;
  @Optional() @InPlaceOf('minutes') @IsUntil(MAX_DAYS) until?: string;
}

@Example<GrantPath>({ profile_id: 1, id: 2_447_438_395_659_416 })
export class GrantPath {
  @IntegerParameter(0, MAX_ID) profile_id!: number;
  @IntegerParameter(0, MAX_DOMAIN_HASH) id!: number;
}

/** `2026-11-24T12:30:00Z,2447438395659416`; null: it is none. */
export function readPlace(text: string): GrantPlace | null {
  const [, time = '', id] = /^([^,]{20,35}),(\d{1,16})$/.exec(text) ?? [];
  const [until, domainHash] = [toSeconds(time), Number(id)];
  return until <= MAX_UNTIL && domainHash <= MAX_DOMAIN_HASH ? { until, domainHash } : null;
}

@Example<GrantsQuery>({ limit: 100 })
export class GrantsQuery {
  /** `until` and `id` of the grant after which to begin: `2026-11-24T12:30:00Z,2447438395659416`. */
  @Optional()
  @IsText('until and id of a grant, with a comma between them', (text) => readPlace(text) !== null)
  after?: string;

  /** At most this many; absent: all. */
  @Optional() @IntegerParameter(1, 1_000) limit?: number;
}

/** A stored grant. The domain itself is not stored. */
@Example<StoredGrantDto>({
  id: 2_447_438_395_659_416,
  profile_id: 1,
  domain_hash: 2_447_438_395_659_416,
  verdict: 'allow',
  until: '2026-11-24T12:30:00Z',
})
export class StoredGrantDto {
  /** The hash of its domain: the same domain again replaces the grant, which keeps its id. */
  @IsInteger(0, MAX_DOMAIN_HASH) id!: number;
  @IsId() profile_id!: number;
  @IsInteger(0, MAX_DOMAIN_HASH) domain_hash!: number;
  @IsRuleStatus() verdict!: RuleStatus;
  @IsTime() until!: string;
}

export function toGrant(
  profileId: number,
  { domain, verdict, minutes, until }: GrantDto,
  hash: (domain: string) => number,
): Grant {
  const end =
    until === undefined ? Math.floor(Date.now() / 1_000) + (minutes ?? 0) * 60 : toSeconds(until);
  return { profileId, domainHash: hash(domain), verdict: RuleVerdict[verdict], until: end };
}

export function toKey({ profile_id: profileId, id: domainHash }: GrantPath): GrantKey {
  return { profileId, domainHash };
}

export function toDto({ profileId, domainHash, verdict, until }: Grant): Json<StoredGrantDto> {
  return {
    id: domainHash,
    profile_id: profileId,
    domain_hash: domainHash,
    verdict: toStatus(verdict),
    until: toTimeText(until),
  };
}
