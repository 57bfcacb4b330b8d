import { type DomainRule, MAX_DOMAIN_HASH, MAX_ID, RuleVerdict } from '@weir/config-model';
import { Example, type Json } from '../../http/validation/dto.js';
import {
  IsId,
  IsInteger,
  IsList,
  IsOneOf,
  Optional,
  IntegerParameter,
} from '../../http/validation/rules.js';
import { type RuleStatus, IsRuleStatus } from '../profiles/profile.dto.js';
import { IsDomain, IsNormalisedDomain } from './domain-check.js';

@Example<AddDomainDto>({ type: 'deny', domain: 'example.com' })
export class AddDomainDto {
  @IsRuleStatus() type!: RuleStatus;

  /** In normal form after validation. */
  @IsNormalisedDomain() domain!: string;
}

@Example<AddDomainsDto>({ type: 'deny', domains: ['example.com', 'example.net'] })
export class AddDomainsDto {
  @IsRuleStatus() type!: RuleStatus;

  /** As submitted. */
  @IsList() @IsDomain({ each: true }) domains!: string[];
}

@Example<PatchDomainDto>({ type: 'allow' })
export class PatchDomainDto {
  @IsRuleStatus() type!: RuleStatus;

  /** Must be equal to the path parameter. In normal form after validation. */
  @Optional() @IsNormalisedDomain() domain?: string;

  /** Must be equal to the path parameter. */
  @Optional() @IsId() profile_id?: number;
}

@Example<DomainPath>({ profile_id: 1, domain: 'example.com' })
export class DomainPath {
  @IntegerParameter(0, MAX_ID) profile_id!: number;

  /** In normal form after validation. */
  @IsNormalisedDomain() domain!: string;
}

/** A stored rule. The domain itself is not stored. */
@Example<StoredDomainRuleDto>({
  profile_id: 1,
  domain_hash: 4_503_599_627_370_495,
  cat_id: RuleVerdict.deny,
})
export class StoredDomainRuleDto {
  @IsId() profile_id!: number;
  @IsInteger(0, MAX_DOMAIN_HASH) domain_hash!: number;

  /** 1: allow list, 2: deny list (decisions §4). */
  @IsOneOf([RuleVerdict.allow, RuleVerdict.deny]) cat_id!: number;
}

export function toDto(rule: DomainRule): Json<StoredDomainRuleDto> {
  return { profile_id: rule.profileId, domain_hash: rule.domainHash, cat_id: rule.verdict };
}
