import { BlockPageDto } from '../block-pages/block-page.dto.js';
import type { RuleStatus } from '../contract/rule-status.js';
import { domain, ruleStatus } from '../contract/values.js';
import { Ipv4NetworkDto } from '../ipv4-networks/ipv4-network.dto.js';
import { Ipv6NetworkDto } from '../ipv6-networks/ipv6-network.dto.js';
import { NaptDto } from '../napt/napt.dto.js';
import { ProfileDto } from '../profiles/profile.dto.js';
import { id, listOf } from '../validation/checks.js';
import { Example } from '../validation/examples.js';
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
  blockpages: [{ id: 1, type: 1 }],
  profiles: [
    {
      profile: {
        id: 1,
        page_id: 1,
        white_list_only: false,
        empty_dns_answer: false,
        appaware_priority_over_bwlists: false,
      },
      cat_ids: [12],
      apps: [{ app_id: 3, status: 'deny' }],
    },
  ],
  bw_lists: [{ profile_id: 1, type: 'deny', domains: ['example.com'] }],
  napts: [{ ip: '198.51.100.1', lower_port_bound: 1024, upper_port_bound: 2047, profile_id: 1 }],
  nets: [{ ip: '192.0.2.0', profile_id: 1, prefix_len: 24 }],
  nets6: [{ ip: '2001:db8::', profile_id: 1, prefix_len: 56 }],
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
