import { BlockPageDto } from '../block-pages/block-page.dto.js';
import type { RuleStatus } from '../contract/rule-status.js';
import { domain, ruleStatus } from '../contract/values.js';
import { Ipv4NetworkDto } from '../ipv4-networks/ipv4-network.dto.js';
import { Ipv6NetworkDto } from '../ipv6-networks/ipv6-network.dto.js';
import { NaptDto } from '../napt/napt.dto.js';
import { ProfileDto } from '../profiles/profile.dto.js';
import { id, listOf } from '../validation/checks.js';
import { Example, exampleOf } from '../validation/examples.js';
import { Field, ObjectListField } from '../validation/fields.js';

/** Domains of one list of one profile. */
@Example<DomainListDto>({ profile_id: 1, type: 'deny', domains: ['example.com'] })
export class DomainListDto {
  @Field(id)
  profile_id!: number;

  @Field(ruleStatus)
  type!: RuleStatus;

  @Field(listOf(domain))
  domains!: string[];
}

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
  @ObjectListField(() => BlockPageDto)
  blockpages!: BlockPageDto[];

  @ObjectListField(() => ProfileDto)
  profiles!: ProfileDto[];

  @ObjectListField(() => DomainListDto)
  bw_lists!: DomainListDto[];

  @ObjectListField(() => NaptDto)
  napts!: NaptDto[];

  @ObjectListField(() => Ipv4NetworkDto)
  nets!: Ipv4NetworkDto[];

  @ObjectListField(() => Ipv6NetworkDto)
  nets6!: Ipv6NetworkDto[];
}

export type InitList = keyof InitDto;

/** Where a value of one of the lists stands. */
export function placeOf(list: InitList, at: number, ...field: string[]): string[] {
  return ['body', list, String(at), ...field];
}
