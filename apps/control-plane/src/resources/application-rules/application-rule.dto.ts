import { type ApplicationRule, MAX_ID } from '@weir/config-model';
import { Example, type Json } from '../../http/validation/dto.js';
import { IsId, IsList, Optional, IntegerParameter } from '../../http/validation/rules.js';
import { type RuleStatus, toStatus, IsRuleStatus } from '../profiles/profile.dto.js';

@Example<AddApplicationsDto>({ app_ids: [3, 4], status: 'deny' })
export class AddApplicationsDto {
  @IsList() @IsId({ each: true }) app_ids!: number[];
  @Optional() @IsRuleStatus() status: RuleStatus = 'deny';
}

@Example<ApplicationRulePath>({ profile_id: 1, app_aware_id: 3 })
export class ApplicationRulePath {
  @IntegerParameter(0, MAX_ID) profile_id!: number;

  /** The id of the application. The name is fixed by the contract. */
  @IntegerParameter(0, MAX_ID) app_aware_id!: number;
}

@Example<StoredApplicationRuleDto>({ profile_id: 1, app_id: 3, status: 'deny' })
export class StoredApplicationRuleDto {
  @IsId() profile_id!: number;
  @IsId() app_id!: number;
  @IsRuleStatus() status!: RuleStatus;
}

export function toAnswer(profileId: number, rule: ApplicationRule): Json<StoredApplicationRuleDto> {
  return {
    profile_id: profileId,
    app_id: rule.applicationId,
    status: toStatus(rule.verdict),
  };
}
