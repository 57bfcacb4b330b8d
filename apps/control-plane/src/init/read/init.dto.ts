import { Example, exampleOf } from '../../http/validation/dto.js';
import {
  FlagParameter,
  IsId,
  IsList,
  IsNestedList,
  Optional,
} from '../../http/validation/rules.js';
import { BlockPageDto } from '../../resources/block-pages/block-page.dto.js';
import { IsDomain } from '../../resources/domain-lists/domain-check.js';
import { NaptDto } from '../../resources/networks/napt/napt.dto.js';
import { Ipv4NetworkDto, Ipv6NetworkDto } from '../../resources/networks/prefixes/network.dto.js';
import { ProfileDto, type RuleStatus, IsRuleStatus } from '../../resources/profiles/profile.dto.js';

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
