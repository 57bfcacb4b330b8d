import { id, listOf, object } from '../../http/validation/checks.js';
import { Example, exampleOf } from '../../http/validation/examples.js';
import { Field, ObjectListField } from '../../http/validation/fields.js';
import { BlockPageDto } from '../../resources/block-pages/block-page.dto.js';
import { domain } from '../../resources/domain-lists/domain-check.js';
import { NaptDto } from '../../resources/networks/napt/napt.dto.js';
import { Ipv4NetworkDto } from '../../resources/networks/prefixes/ipv4-network.dto.js';
import { Ipv6NetworkDto } from '../../resources/networks/prefixes/ipv6-network.dto.js';
import { ProfileDto } from '../../resources/profiles/profile.dto.js';
import type { RuleStatus } from '../../resources/profiles/rule-status.js';
import { ruleStatus } from '../../resources/profiles/rule-status.js';

/** Domains of one list of one profile. */
@Example<DomainListDto>({ profile_id: 1, type: 'deny', domains: ['example.com'] })
export class DomainListDto {
  @Field(id)
  profile_id!: number;

  @Field(ruleStatus)
  type!: RuleStatus;

  @Field(listOf(domain, Infinity))
  domains!: string[];
}

/** The body is loaded as a stream, so its lists have no maximum length. */
const unbounded = listOf(object, Infinity);

/** The whole configuration. */
@Example<InitDto>({
  blockpages: [exampleOf(BlockPageDto)],
  profiles: [exampleOf(ProfileDto)],
  bw_lists: [exampleOf(DomainListDto)],
  napts: [exampleOf(NaptDto)],
  nets: [exampleOf(Ipv4NetworkDto)],
  nets6: [exampleOf(Ipv6NetworkDto)],
})
export class InitDto {
  @ObjectListField(() => BlockPageDto, unbounded)
  blockpages!: BlockPageDto[];

  @ObjectListField(() => ProfileDto, unbounded)
  profiles!: ProfileDto[];

  @ObjectListField(() => DomainListDto, unbounded)
  bw_lists!: DomainListDto[];

  @ObjectListField(() => NaptDto, unbounded)
  napts!: NaptDto[];

  @ObjectListField(() => Ipv4NetworkDto, unbounded)
  nets!: Ipv4NetworkDto[];

  @ObjectListField(() => Ipv6NetworkDto, unbounded)
  nets6!: Ipv6NetworkDto[];
}

export type InitList = keyof InitDto;

/** The location of a value in one of the lists. */
export function locationOf(list: InitList, at: number, ...field: string[]): string[] {
  return ['body', list, String(at), ...field];
}
