import { type ApplicationRule, MAX_ID } from '@weir/config-model';
import { id, listOf } from '../../http/validation/checks.js';
import { Example } from '../../http/validation/examples.js';
import { Field, OptionalField, PathInteger } from '../../http/validation/fields.js';
import type { Json } from '../../http/validation/json.js';
import { type RuleStatus, toStatus } from '../profiles/rule-status.js';
import { ruleStatus } from '../profiles/rule-status.js';

@Example<AddApplicationsDto>({ app_ids: [3, 4], status: 'deny' })
export class AddApplicationsDto {
  @Field(listOf(id))
  app_ids!: number[];

  @OptionalField(ruleStatus)
  status: RuleStatus = 'deny';
}

@Example<ApplicationRulePath>({ profile_id: 1, app_aware_id: 3 })
export class ApplicationRulePath {
  @PathInteger(0, MAX_ID)
  profile_id!: number;

  /** The id of the application. The name is fixed by the contract. */
  @PathInteger(0, MAX_ID)
  app_aware_id!: number;
}

/** Where a body names the applications. */
export const APPLICATION_LOCATIONS = {
  single: (): string[] => ['body', 'app_id'],
  batch: (i: number): string[] => ['body', 'app_ids', String(i)],
} as const;

/** A rule with its profile. */
@Example<StoredApplicationRuleDto>({ profile_id: 1, app_id: 3, status: 'deny' })
export class StoredApplicationRuleDto {
  @Field(id)
  profile_id!: number;

  @Field(id)
  app_id!: number;

  @Field(ruleStatus)
  status!: RuleStatus;
}

export function toAnswer(profileId: number, rule: ApplicationRule): Json<StoredApplicationRuleDto> {
  return {
    profile_id: profileId,
    app_id: rule.applicationId,
    status: toStatus(rule.verdict),
  };
}
