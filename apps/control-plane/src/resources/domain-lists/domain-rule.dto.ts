import { type DomainRule, MAX_DOMAIN_HASH, MAX_ID, RuleVerdict } from '@weir/config-model';
import { normaliseDomain } from '@weir/dns-name';
import { id, integer, listOf, oneOf } from '../../http/validation/checks.js';
import { Example } from '../../http/validation/examples.js';
import { Converted, Field, OptionalField, PathInteger } from '../../http/validation/fields.js';
import type { Json } from '../../http/validation/json.js';
import type { RuleStatus } from '../profiles/rule-status.js';
import { ruleStatus } from '../profiles/rule-status.js';
import { domain } from './domain-check.js';

@Example<AddDomainDto>({ type: 'deny', domain: 'example.com' })
export class AddDomainDto {
  @Field(ruleStatus)
  type!: RuleStatus;

  /** In normal form after validation. */
  @Converted(domain, normaliseDomain)
  @Field(domain)
  domain!: string;
}

@Example<AddDomainsDto>({ type: 'deny', domains: ['example.com', 'example.net'] })
export class AddDomainsDto {
  @Field(ruleStatus)
  type!: RuleStatus;

  /** As submitted. */
  @Field(listOf(domain))
  domains!: string[];
}

@Example<PatchDomainDto>({ type: 'allow' })
export class PatchDomainDto {
  @Field(ruleStatus)
  type!: RuleStatus;

  /** Must be equal to the path parameter. In normal form after validation. */
  @Converted(domain, normaliseDomain)
  @OptionalField(domain)
  domain?: string;

  /** Must be equal to the path parameter. */
  @OptionalField(id)
  profile_id?: number;
}

@Example<DomainPath>({ profile_id: 1, domain: 'example.com' })
export class DomainPath {
  @PathInteger(0, MAX_ID)
  profile_id!: number;

  /** In normal form after validation. */
  @Converted(domain, normaliseDomain)
  @Field(domain)
  domain!: string;
}

/** A stored rule. The domain itself is not stored. */
@Example<StoredDomainRuleDto>({
  profile_id: 1,
  domain_hash: 4_503_599_627_370_495,
  cat_id: RuleVerdict.deny,
})
export class StoredDomainRuleDto {
  @Field(id)
  profile_id!: number;

  @Field(integer(0, MAX_DOMAIN_HASH))
  domain_hash!: number;

  /** 1: allow list, 2: deny list (decisions §4). */
  @Field(oneOf([RuleVerdict.allow, RuleVerdict.deny]))
  cat_id!: number;
}

export function toDto(rule: DomainRule): Json<StoredDomainRuleDto> {
  return { profile_id: rule.profileId, domain_hash: rule.domainHash, cat_id: rule.verdict };
}
