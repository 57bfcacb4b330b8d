import { Body, Controller, Param } from '@nestjs/common';
import { RuleVerdict } from '@weir/config-model';
import { ApiEndpoint } from '../../http/routing/endpoint.js';
import type { Json } from '../../http/validation/dto.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { ProfilePath, ApplicationRuleDto } from '../profiles/profile.dto.js';
import {
  AddApplicationsDto,
  StoredApplicationRuleDto,
  ApplicationRulePath,
  APPLICATION_LOCATIONS,
  toAnswer,
} from './application-rule.dto.js';
import { ApplicationRulesService } from './application-rules.service.js';

@Controller()
export class ApplicationRulesController {
  constructor(private readonly rules: ApplicationRulesService) {}

  @ApiEndpoint('GET /profile/:profile_id/app_aware', {
    path: ProfilePath,
    summary: 'Application rules of a profile, by application',
    answer: [StoredApplicationRuleDto],
    errors: [404],
  })
  async list(@Param() path: ProfilePath): Promise<WithRevision<Json<StoredApplicationRuleDto>[]>> {
    const found = await this.rules.list(path.profile_id);
    return found.map((rules) => rules.map((rule) => toAnswer(path.profile_id, rule)));
  }

  @ApiEndpoint('POST /profile/:profile_id/app_aware', {
    path: ProfilePath,
    body: ApplicationRuleDto,
    summary: 'Sets the rule of an application',
    answer: StoredApplicationRuleDto,
    errors: [404],
  })
  async add(
    @Param() path: ProfilePath,
    @Body() body: ApplicationRuleDto,
  ): Promise<WithRevision<Json<StoredApplicationRuleDto>>> {
    const verdict = RuleVerdict[body.status];
    const put = await this.rules.put(
      path.profile_id,
      [body.app_id],
      verdict,
      APPLICATION_LOCATIONS.single,
    );
    return put.map((rules) => toAnswer(path.profile_id, rules[0]));
  }

  @ApiEndpoint('POST /profile/:profile_id/app_aware/batch', {
    path: ProfilePath,
    body: AddApplicationsDto,
    summary: 'Sets the rules of several applications',
    answer: [StoredApplicationRuleDto],
    errors: [404],
  })
  async addAll(
    @Param() path: ProfilePath,
    @Body() body: AddApplicationsDto,
  ): Promise<WithRevision<Json<StoredApplicationRuleDto>[]>> {
    const verdict = RuleVerdict[body.status];
    const put = await this.rules.put(
      path.profile_id,
      body.app_ids,
      verdict,
      APPLICATION_LOCATIONS.batch,
    );
    return put.map((rules) => rules.map((rule) => toAnswer(path.profile_id, rule)));
  }

  @ApiEndpoint('DELETE /profile/:profile_id/app_aware/:app_aware_id', {
    path: ApplicationRulePath,
    summary: 'Deletes the rule of an application; the last path segment is the application id',
    errors: [404],
  })
  remove(@Param() path: ApplicationRulePath): Promise<WithRevision<void>> {
    return this.rules.remove(path.profile_id, path.app_aware_id);
  }
}
