import { Body, Controller, Param } from '@nestjs/common';
import { type ApplicationRule, MAX_ID, type Profile, RuleVerdict } from '@weir/config-model';
import { notFound } from '../../http/errors/errors.js';
import { type Answer, ApiEndpoint } from '../../http/routing/endpoint.js';
import { Example, type Json } from '../../http/validation/dto.js';
import { type FaultLocation, throwIfFaults } from '../../http/validation/fault.js';
import { IntegerParameter, IsId, IsList, IsText, Optional } from '../../http/validation/rules.js';
import type { EntityChange } from '../../revisions/change-record.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import type { WorkingTables } from '../../revisions/working-tables.js';
import { readApplications, WorkingApplications } from '../applications/active-applications.js';
import { readProfile, WorkingProfiles } from '../profiles/profile-store.js';
import {
  applicationFaults,
  ApplicationRuleDto,
  IsRuleStatus,
  ProfilePath,
  type RuleStatus,
  sortRules,
  toStatus,
} from '../profiles/profile.dto.js';

@Example<AddApplicationsDto>({ app_ids: [3, 4], status: 'deny' })
class AddApplicationsDto {
  @IsList() @IsId({ each: true }) app_ids!: number[];
  @Optional() @IsRuleStatus() status: RuleStatus = 'deny';
}

@Example<ApplicationRulePath>({ profile_id: 1, app_aware_id: 3 })
class ApplicationRulePath {
  @IntegerParameter(0, MAX_ID) profile_id!: number;

  /** The id of the application. The name is fixed by the contract. */
  @IntegerParameter(0, MAX_ID) app_aware_id!: number;
}

@Example<StoredApplicationRuleDto>({ profile_id: 1, app_id: 3, status: 'deny' })
class StoredApplicationRuleDto {
  @IsId() profile_id!: number;
  @IsId() app_id!: number;
  @IsRuleStatus() status!: RuleStatus;
}

function toAnswer(profileId: number, rule: ApplicationRule): Json<StoredApplicationRuleDto> {
  return {
    profile_id: profileId,
    app_id: rule.applicationId,
    status: toStatus(rule.verdict),
  };
}

/** Application rules of profiles. They are part of the profile entity: a changed rule is a changed profile. */
@Controller()
export class ApplicationRulesController {
  constructor(
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
  ) {}

  @ApiEndpoint('GET /profile/:profile_id/app_aware', {
    path: ProfilePath,
    summary: 'Application rules of a profile, by application',
    answer: [StoredApplicationRuleDto],
    errors: [404],
  })
  async list(@Param() { profile_id: id }: ProfilePath): Answer<StoredApplicationRuleDto[]> {
    const profile = await readProfile(this.reader, id);
    return profile.map(({ applicationRules: rules }) => rules.map((rule) => toAnswer(id, rule)));
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
    @Body() { app_id, status }: ApplicationRuleDto,
  ): Answer<StoredApplicationRuleDto> {
    const put = await this.put(path.profile_id, [app_id], status, () => ['body', 'app_id']);
    return put.map(([rule]) => rule);
  }

  @ApiEndpoint('POST /profile/:profile_id/app_aware/batch', {
    path: ProfilePath,
    body: AddApplicationsDto,
    summary: 'Sets the rules of several applications',
    answer: [StoredApplicationRuleDto],
    errors: [404],
  })
  addAll(
    @Param() path: ProfilePath,
    @Body() { app_ids: ids, status }: AddApplicationsDto,
  ): Answer<StoredApplicationRuleDto[]> {
    return this.put(path.profile_id, ids, status, (i) => ['body', 'app_ids', String(i)]);
  }

  /**
   * Creates or replaces the rules (decisions §2).
   * @returns the rules in the submitted order, without duplicates.
   * @param locationOf where the request names the application at a position.
   */
  private put(
    profileId: number,
    applicationIds: readonly number[],
    status: RuleStatus,
    locationOf: (i: number) => FaultLocation,
  ): Answer<StoredApplicationRuleDto[]> {
    const verdict = RuleVerdict[status];
    const submitted = applicationIds.map((applicationId) => ({ applicationId, verdict }));
    const rules = new Map(submitted.map((rule) => [rule.applicationId, rule]));
    return this.writer.write({
      items: applicationIds.length,
      need: (tables) => {
        tables.of(WorkingProfiles.open).need({ id: profileId });
        tables.of(WorkingApplications.open);
      },
      make: (tables) => {
        const before = tables.of(WorkingProfiles.open).get(profileId);
        const { names } = tables.of(WorkingApplications.open);
        throwIfFaults(applicationFaults(submitted, names, locationOf, { mayRepeat: true }));
        const others = before.applicationRules.filter((rule) => !rules.has(rule.applicationId));
        const result = Array.from(rules.values(), (rule) => toAnswer(profileId, rule));
        return { result, changes: [replaceRules(tables, before, [...others, ...rules.values()])] };
      },
    });
  }

  @ApiEndpoint('DELETE /profile/:profile_id/app_aware/:app_aware_id', {
    path: ApplicationRulePath,
    summary: 'Deletes the rule of an application; the last path segment is the application id',
    errors: [404],
  })
  remove(
    @Param() { profile_id: profileId, app_aware_id: applicationId }: ApplicationRulePath,
  ): Answer<void> {
    return this.writer.write({
      need: (tables) => tables.of(WorkingProfiles.open).need({ id: profileId }),
      make: (tables) => {
        const before = tables.of(WorkingProfiles.open).get(profileId);
        const rest = before.applicationRules.filter((rule) => rule.applicationId !== applicationId);
        if (rest.length === before.applicationRules.length) {
          throw notFound(`application rule ${applicationId} of profile ${profileId}`);
        }
        return { result: undefined, changes: [replaceRules(tables, before, rest)] };
      },
    });
  }
}

function replaceRules(
  tables: WorkingTables,
  before: Profile,
  rules: readonly ApplicationRule[],
): EntityChange {
  const after = { ...before, applicationRules: sortRules(rules) };
  tables.of(WorkingProfiles.open).put(after);
  return { kind: 'profile', before, after };
}

@Example<ApplicationDto>({ id: 1, name: 'YouTube' })
export class ApplicationDto {
  @IsId() id!: number;
  @IsText('a name', () => true, { example: 'Video' }) name!: string;
}

@Controller()
export class ApplicationsController {
  constructor(private readonly reader: ConfigurationReader) {}

  /** The image is ordered by id. */
  @ApiEndpoint('GET /app_aware/application/', {
    summary: 'The application catalogue, by id',
    answer: [ApplicationDto],
  })
  async list(): Answer<ApplicationDto[]> {
    const read = await readApplications(this.reader);
    return read.map(({ names }) => Array.from(names, ([id, name]) => ({ id, name })));
  }
}
