import { Body, Controller, Injectable, Param } from '@nestjs/common';
import { type ApplicationRule, type Profile, RuleVerdict } from '@weir/config-model';
import { notFound } from '../../http/errors/errors.js';
import { ApiEndpoint } from '../../http/routing/endpoint.js';
import { Example, type Json } from '../../http/validation/dto.js';
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
import type { WithRevision } from '../../revisions/with-revision.js';
import type { WorkingTables } from '../../revisions/working-tables.js';
import {
  ActiveCatalogueReader,
  readApplications,
} from '../applications/active-catalogue-reader.js';
import { sortRules } from '../profiles/profile-draft.js';
import { readProfile, WorkingProfiles } from '../profiles/profile-store.js';
import { ApplicationRuleDto, ProfilePath } from '../profiles/profile.dto.js';
import {
  AddApplicationsDto,
  APPLICATION_LOCATIONS,
  ApplicationRulePath,
  StoredApplicationRuleDto,
  toAnswer,
} from './application-rule.dto.js';

/** Application rules of profiles. They are part of the profile entity: a changed rule is a changed profile. */
@Injectable()
export class ApplicationRulesService {
  constructor(
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
    private readonly catalogue: ActiveCatalogueReader,
  ) {}

  /** The rules of a profile, by application. */
  async list(profileId: number): Promise<WithRevision<readonly ApplicationRule[]>> {
    const profile = await readProfile(this.reader, profileId);
    return profile.map(({ applicationRules }) => applicationRules);
  }

  /**
   * Creates or replaces the rules (decisions §2).
   * @returns the rules in the submitted order, without duplicates.
   * @param locationOf where the request names the application at a position.
   */
  put(
    profileId: number,
    applicationIds: readonly number[],
    verdict: RuleVerdict,
    locationOf: (i: number) => FaultLocation,
  ): Promise<WithRevision<ApplicationRule[]>> {
    return this.writer.write({
      items: applicationIds.length,
      need: (tables) => {
        tables.of(WorkingProfiles.open).need(profileId);
        tables.of(this.catalogue.open);
      },
      make: (tables) => {
        const before = tables.of(WorkingProfiles.open).get(profileId);
        const { names } = tables.of(this.catalogue.open);
        throwIfFaults(unknownFaults(applicationIds, names, locationOf));
        const distinct = new Set(applicationIds);
        const rules = Array.from(distinct, (applicationId) => ({ applicationId, verdict }));
        const others = before.applicationRules.filter((rule) => !distinct.has(rule.applicationId));
        return { result: rules, changes: [replaceRules(tables, before, [...others, ...rules])] };
      },
    });
  }

  remove(profileId: number, applicationId: number): Promise<WithRevision<void>> {
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

/** An entry of the application catalogue. */
@Example<ApplicationDto>({ id: 1, name: 'YouTube' })
export class ApplicationDto {
  @IsId()
  id!: number;

  @IsText('a name', () => true, { example: 'Video' })
  name!: string;
}

@Controller()
export class ApplicationsController {
  constructor(private readonly reader: ConfigurationReader) {}

  /** The image is ordered by id. */
  @ApiEndpoint('GET /app_aware/application/', {
    summary: 'The application catalogue, by id',
    answer: [ApplicationDto],
  })
  async list(): Promise<WithRevision<Json<ApplicationDto>[]>> {
    const read = await readApplications(this.reader);
    return read.map(({ names }) => Array.from(names, ([id, name]) => ({ id, name })));
  }
}
