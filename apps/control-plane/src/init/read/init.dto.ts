import { Example, exampleOf } from '../../http/validation/dto.js';
import {
  FlagParameter,
  IsAnswered,
  IsId,
  IsInteger,
  IsList,
  IsNested,
  IsNestedList,
  Optional,
} from '../../http/validation/rules.js';
import { BlockPageDto } from '../../resources/block-pages/block-page.dto.js';
import { IsDomain } from '../../resources/domain-lists/domain-check.js';
import { NaptDto } from '../../resources/networks/napt/napt.dto.js';
import { Ipv4NetworkDto, Ipv6NetworkDto } from '../../resources/networks/prefixes/network.dto.js';
import { IsRuleStatus, ProfileDto, type RuleStatus } from '../../resources/profiles/profile.dto.js';

/** Domains of one list of one profile. */
@Example<DomainListDto>({ profile_id: 1, type: 'deny', domains: ['example.com'] })
export class DomainListDto {
  @IsId()
  profile_id!: number;

  @IsRuleStatus()
  type!: RuleStatus;

  @IsList(Infinity)
  @IsDomain({ each: true })
  domains!: string[];
}

/** The whole configuration. It is loaded as a stream, so its lists have no maximum length. */
@Example<InitDto>({
  blockpages: [exampleOf(BlockPageDto)],
  profiles: [exampleOf(ProfileDto)],
  bw_lists: [exampleOf(DomainListDto)],
  napts: [exampleOf(NaptDto)],
  nets: [exampleOf(Ipv4NetworkDto)],
  nets6: [exampleOf(Ipv6NetworkDto)],
})
export class InitDto {
  @IsNestedList(() => BlockPageDto, Infinity)
  blockpages!: BlockPageDto[];

  @IsNestedList(() => ProfileDto, Infinity)
  profiles!: ProfileDto[];

  @IsNestedList(() => DomainListDto, Infinity)
  bw_lists!: DomainListDto[];

  @IsNestedList(() => NaptDto, Infinity)
  napts!: NaptDto[];

  @IsNestedList(() => Ipv4NetworkDto, Infinity)
  nets!: Ipv4NetworkDto[];

  @IsNestedList(() => Ipv6NetworkDto, Infinity)
  nets6!: Ipv6NetworkDto[];
}

@Example<InitQuery>({ dry_run: true })
export class InitQuery {
  /** Nothing is changed: the response says what would be. */
  @Optional()
  @FlagParameter()
  dry_run = false;
}

export type InitList = keyof InitDto;

/** The location of a value in one of the lists. */
export function locationOf(list: InitList, at: number, ...field: string[]): string[] {
  return ['body', list, String(at), ...field];
}

/** Most keys in each sample (decisions §12). */
export const MAX_SAMPLES = 100;

/** An id; `192.0.2.0/24`; `192.0.2.1:1024-2047`; a domain rule. */
export type SampleKey =
  | number
  | string
  | { readonly profile_id: number; readonly domain_hash: number };

const RULE_KEY = { profile_id: { type: 'integer' }, domain_hash: { type: 'integer' } };
const KEY = {
  oneOf: [
    { type: 'integer' },
    { type: 'string' },
    {
      type: 'object',
      additionalProperties: false,
      required: Object.keys(RULE_KEY),
      properties: RULE_KEY,
    },
  ],
};

const IsCount = (): PropertyDecorator => IsInteger(0, Number.MAX_SAFE_INTEGER);
const IsKey = (): PropertyDecorator => IsAnswered(KEY, { each: true });

/** Keys of some of the records, in the order of the lists. */
@Example<SamplesDto>({ added: ['198.51.100.0/24'], changed: [], removed: ['192.0.2.0/24'] })
export class SamplesDto {
  @IsList(MAX_SAMPLES)
  @IsKey()
  added!: SampleKey[];

  @IsList(MAX_SAMPLES)
  @IsKey()
  changed!: SampleKey[];

  @IsList(MAX_SAMPLES)
  @IsKey()
  removed!: SampleKey[];
}

/** How many records of a resource are not stored, stored with other values, not in the body, and stored as they are. */
@Example<DifferenceDto>({
  added: 1,
  changed: 0,
  removed: 1,
  unchanged: 2,
  samples: exampleOf(SamplesDto),
})
export class DifferenceDto {
  @IsCount()
  added!: number;

  @IsCount()
  changed!: number;

  @IsCount()
  removed!: number;

  @IsCount()
  unchanged!: number;

  @IsNested(() => SamplesDto)
  samples!: SamplesDto;
}

const NONE = { added: 0, changed: 0, removed: 0, unchanged: 0 };
const SAME = { ...NONE, samples: { added: [], changed: [], removed: [] } };

/** By list of the body. */
@Example<DifferencesDto>({
  blockpages: { ...SAME, unchanged: 1 },
  profiles: { ...SAME, unchanged: 1 },
  bw_lists: SAME,
  napts: SAME,
  nets: exampleOf(DifferenceDto),
  nets6: SAME,
})
export class DifferencesDto {
  @IsNested(() => DifferenceDto)
  blockpages!: DifferenceDto;

  @IsNested(() => DifferenceDto)
  profiles!: DifferenceDto;

  @IsNested(() => DifferenceDto)
  bw_lists!: DifferenceDto;

  @IsNested(() => DifferenceDto)
  napts!: DifferenceDto;

  @IsNested(() => DifferenceDto)
  nets!: DifferenceDto;

  @IsNested(() => DifferenceDto)
  nets6!: DifferenceDto;
}

/** What a replacement of the configuration would change. */
@Example<DryRunDto>({ revision: 42, resources: exampleOf(DifferencesDto), subscribers_affected: 2 })
export class DryRunDto {
  @IsCount()
  revision!: number;

  @IsNested(() => DifferencesDto)
  resources!: DifferencesDto;

  /** Networks and port ranges that are not the same afterwards, or whose profile decides by something else. */
  @IsCount()
  subscribers_affected!: number;
}
