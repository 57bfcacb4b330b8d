import { type ApplicationRule, type Profile, RuleVerdict, MAX_ID } from '@weir/config-model';
import { IsOptional } from 'class-validator';
import { Example, exampleOf, type Json } from '../../http/validation/dto.js';
import { type Fault, type FaultLocation, MAX_FAULTS } from '../../http/validation/fault.js';
import { allOptional } from '../../http/validation/fields.js';
import {
  IsFlag,
  IsId,
  IsList,
  IsNested,
  IsNestedList,
  Optional,
  IntegerParameter,
  IsOneOf,
} from '../../http/validation/rules.js';

/** The verdict of a rule, in the words of the contract. */
export type RuleStatus = keyof typeof RuleVerdict;

export function toStatus(verdict: RuleVerdict): RuleStatus {
  return verdict === RuleVerdict.allow ? 'allow' : 'deny';
}

export const IsRuleStatus = (): PropertyDecorator => IsOneOf(['allow', 'deny']);

@Example<ProfilePath>({ profile_id: 1 })
export class ProfilePath {
  @IntegerParameter(0, MAX_ID) profile_id!: number;
}

@Example<ProfileSettingsDto>({
  id: 1,
  page_id: 1,
  white_list_only: false,
  empty_dns_answer: false,
  appaware_priority_over_bwlists: false,
})
export class ProfileSettingsDto {
  @IsId() id!: number;
  @IsOptional() @IsId() page_id: number | null = null;
  @Optional() @IsFlag() white_list_only = false;
  @Optional() @IsFlag() empty_dns_answer = false;
  @Optional() @IsFlag() appaware_priority_over_bwlists = false;
}

@Example<ApplicationRuleDto>({ app_id: 3, status: 'deny' })
export class ApplicationRuleDto {
  @IsId() app_id!: number;
  @Optional() @IsRuleStatus() status: RuleStatus = 'deny';
}

@Example<ProfileDto>({
  profile: exampleOf(ProfileSettingsDto),
  cat_ids: [12],
  apps: [exampleOf(ApplicationRuleDto)],
})
export class ProfileDto {
  @IsNested(() => ProfileSettingsDto) profile!: ProfileSettingsDto;
  @Optional() @IsList() @IsId({ each: true }) cat_ids: number[] = [];
  @Optional() @IsNestedList(() => ApplicationRuleDto) apps: ApplicationRuleDto[] = [];
}

@Example<PatchProfileSettingsDto>({ page_id: null, empty_dns_answer: true })
export class PatchProfileSettingsDto extends allOptional(ProfileSettingsDto) {}

@Example<PatchProfileDto>({ profile: exampleOf(PatchProfileSettingsDto), cat_ids: [12, 17] })
export class PatchProfileDto {
  @Optional() @IsNested(() => PatchProfileSettingsDto) profile?: PatchProfileSettingsDto;
  @Optional() @IsList() @IsId({ each: true }) cat_ids?: number[];
  @Optional() @IsNestedList(() => ApplicationRuleDto) apps?: ApplicationRuleDto[];
}

/** A profile as it was submitted: categories and applications may be unordered, and categories may repeat. */
export function toDraft({ profile, cat_ids, apps }: ProfileDto): Profile {
  return {
    id: profile.id,
    pageId: profile.page_id,
    whiteListOnly: profile.white_list_only,
    emptyDnsAnswer: profile.empty_dns_answer,
    appawarePriorityOverBwlists: profile.appaware_priority_over_bwlists,
    categoryIds: cat_ids,
    applicationRules: apps.map(toRule),
  };
}

/** What a profile becomes by a patch. Its collections replace those before. */
export function patched(
  before: Profile,
  { profile, cat_ids, apps }: Json<PatchProfileDto>,
): Profile {
  const whole = toDto(before);
  return toDraft({
    profile: { ...whole.profile, ...profile },
    cat_ids: cat_ids ?? whole.cat_ids,
    apps: apps ?? whole.apps,
  });
}

export function toDto(profile: Profile): Json<ProfileDto> {
  return {
    profile: {
      id: profile.id,
      page_id: profile.pageId,
      white_list_only: profile.whiteListOnly,
      empty_dns_answer: profile.emptyDnsAnswer,
      appaware_priority_over_bwlists: profile.appawarePriorityOverBwlists,
    },
    cat_ids: [...profile.categoryIds],
    apps: profile.applicationRules.map((rule) => ({
      app_id: rule.applicationId,
      status: toStatus(rule.verdict),
    })),
  };
}

export function toRule(dto: ApplicationRuleDto): ApplicationRule {
  return { applicationId: dto.app_id, verdict: RuleVerdict[dto.status] };
}

/** A profile as it is stored: categories ascending and without duplicates, rules sorted by application. */
export function toProfile(draft: Profile): Profile {
  return {
    ...draft,
    categoryIds: [...Uint32Array.from(new Set(draft.categoryIds)).sort()],
    applicationRules: sortRules(draft.applicationRules),
  };
}

export function sortRules(rules: readonly ApplicationRule[]): ApplicationRule[] {
  return [...rules].sort((a, b) => a.applicationId - b.applicationId);
}

/**
 * A fault for each duplicate application and each that is not in the catalogue (decisions §2), up to `MAX_FAULTS`.
 * @param mayRepeat duplicates are no faults.
 */
export function applicationFaults(
  rules: readonly ApplicationRule[],
  applications: ReadonlyMap<number, string>,
  locationOf: (i: number) => FaultLocation,
  { mayRepeat = false } = {},
): Fault[] {
  const faults: Fault[] = [];
  const seen = new Set<number>();
  for (const [i, { applicationId }] of rules.entries()) {
    if (faults.length >= MAX_FAULTS) break;
    if (seen.has(applicationId) && !mayRepeat) {
      const msg = `Application ${applicationId} is a duplicate`;
      faults.push({ loc: locationOf(i), msg, type: 'duplicate' });
    } else if (!applications.has(applicationId)) {
      const msg = `The catalogue has no application ${applicationId}`;
      faults.push({ loc: locationOf(i), msg, type: 'reference' });
    }
    seen.add(applicationId);
  }
  return faults;
}
