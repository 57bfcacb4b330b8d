import { BlockPageDto } from '../block-pages/block-page.dto.js';
import type { RuleStatus } from '../contract/rule-status.js';
import { domain, ruleStatus } from '../contract/values.js';
import { Ipv4NetworkDto } from '../ipv4-networks/ipv4-network.dto.js';
import { Ipv6NetworkDto } from '../ipv6-networks/ipv6-network.dto.js';
import { NaptDto } from '../napt/napt.dto.js';
import { ProfileDto } from '../profiles/profile.dto.js';
import { id, listOf } from '../validation/checks.js';
import { Field, ObjectListField } from '../validation/fields.js';

/** Domains of one list of one profile. */
export class DomainListDto {
  @Field(id)
  profile_id!: number;

  @Field(ruleStatus)
  type!: RuleStatus;

  @Field(listOf(domain))
  domains!: string[];
}

/** The whole configuration. */
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
