import { Body, Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { RuleVerdict } from '@weir/config-model';
import { ApiResponse, ApiRequest } from '../../http/routing/request-shape.js';
import type { Json } from '../../http/validation/json.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { ProfilePath } from '../profiles/profile-path.js';
import { ApplicationRuleDto } from '../profiles/profile.dto.js';
import {
  AddApplicationsDto,
  StoredApplicationRuleDto,
  ApplicationRulePath,
  APPLICATION_LOCATIONS,
  toAnswer,
} from './application-rule.dto.js';
import { ApplicationRulesService } from './application-rules.service.js';

@Controller('profile/:profile_id/app_aware')
export class ApplicationRulesController {
  constructor(private readonly rules: ApplicationRulesService) {}

  @Get()
  @ApiRequest({ path: ProfilePath })
  @ApiResponse({
    summary: 'Application rules of a profile, by application',
    status: 200,
    body: [StoredApplicationRuleDto],
    errors: [404],
  })
  async list(@Param() path: ProfilePath): Promise<WithRevision<Json<StoredApplicationRuleDto>[]>> {
    const found = await this.rules.list(path.profile_id);
    return found.map((rules) => rules.map((rule) => toAnswer(path.profile_id, rule)));
  }

  @Post()
  @ApiRequest({ path: ProfilePath, body: ApplicationRuleDto })
  @ApiResponse({
    summary: 'Sets the rule of an application',
    status: 201,
    body: StoredApplicationRuleDto,
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

  @Post('batch')
  @ApiRequest({ path: ProfilePath, body: AddApplicationsDto })
  @ApiResponse({
    summary: 'Sets the rules of several applications',
    status: 201,
    body: [StoredApplicationRuleDto],
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

  @Delete(':app_aware_id')
  @ApiRequest({ path: ApplicationRulePath })
  @ApiResponse({
    summary: 'Deletes the rule of an application; the last path segment is the application id',
    status: 204,
    errors: [404],
  })
  remove(@Param() path: ApplicationRulePath): Promise<WithRevision<void>> {
    return this.rules.remove(path.profile_id, path.app_aware_id);
  }
}
