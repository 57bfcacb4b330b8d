import { Body, Controller, Param } from '@nestjs/common';
import { type ApplicationRule, type Profile, RuleVerdict } from '@weir/config-model';
import { notFound } from '../../http/errors/errors.js';
import { type Answer, ApiEndpoint } from '../../http/routing/endpoint.js';
import { Example } from '../../http/validation/dto.js';
import {
  type Fault,
  type FaultLocation,
  MAX_FAULTS,
  throwIfFaults,
} from '../../http/validation/fault.js';
import { IsId, IsText } from '../../http/validation/rules.js';
import type { EntityChange } from '../../revisions/change-record.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import type { WorkingTables } from '../../revisions/working-tables.js';
import { readApplications, WorkingApplications } from '../applications/active-applications.js';
import { sortRules } from '../profiles/profile-draft.js';
import { readProfile, WorkingProfiles } from '../profiles/profile-store.js';
import { ApplicationRuleDto, ProfilePath, type RuleStatus } from '../profiles/profile.dto.js';
import {
  AddApplicationsDto,
  ApplicationRulePath,
  StoredApplicationRuleDto,
  toAnswer,
} from './application-rule.dto.js';

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
    const distinct = new Set(applicationIds);
    const rules = Array.from(distinct, (applicationId) => ({ applicationId, verdict }));
    return this.writer.write({
      items: applicationIds.length,
      need: (tables) => {
        tables.of(WorkingProfiles.open).need(profileId);
        tables.of(WorkingApplications.open);
      },
      make: (tables) => {
        const before = tables.of(WorkingProfiles.open).get(profileId);
        const { names } = tables.of(WorkingApplications.open);
        throwIfFaults(unknownFaults(applicationIds, names, locationOf));
        const others = before.applicationRules.filter((rule) => !distinct.has(rule.applicationId));
        const result = rules.map((rule) => toAnswer(profileId, rule));
        return { result, changes: [replaceRules(tables, before, [...others, ...rules])] };
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
      need: (tables) => tables.of(WorkingProfiles.open).need(profileId),
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

function unknownFaults(
  applicationIds: readonly number[],
  known: ReadonlyMap<number, string>,
  locationOf: (i: number) => FaultLocation,
): Fault[] {
  const faults: Fault[] = [];
  for (const [i, applicationId] of applicationIds.entries()) {
    if (faults.length >= MAX_FAULTS) break;
    if (known.has(applicationId)) continue;
    const msg = `The catalogue has no application ${applicationId}`;
    faults.push({ loc: locationOf(i), msg, type: 'reference' });
  }
  return faults;
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
