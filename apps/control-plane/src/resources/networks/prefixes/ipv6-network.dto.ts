import type { Ipv6Words } from '@weir/config-model';
import { id, integer } from '../../../http/validation/checks.js';
import { Example } from '../../../http/validation/examples.js';
import { Field, OptionalField } from '../../../http/validation/fields.js';
import type { Json } from '../../../http/validation/json.js';
import { ipv6 } from '../addresses/address-checks.js';
import { formatIpv6, parseIpv6 } from '../addresses/ipv6.js';
import type { NetworkRecord } from './network-store.js';

const prefixLength = integer(16, 128);

@Example<Ipv6NetworkDto>({ ip: '2001:db8::', profile_id: 1, prefix_len: 56 })
export class Ipv6NetworkDto {
  @Field(ipv6)
  ip!: string;

  @Field(id)
  profile_id!: number;

  @OptionalField(prefixLength)
  prefix_len = 128;
}

@Example<PatchIpv6NetworkDto>({ profile_id: 2 })
export class PatchIpv6NetworkDto {
  @OptionalField(ipv6)
  ip?: string;

  @OptionalField(id)
  profile_id?: number;

  @OptionalField(prefixLength)
  prefix_len?: number;
}

@Example<Ipv6NetworkPath>({ ipv6: '2001:db8::' })
export class Ipv6NetworkPath {
  /** Any text form of the address. */
  @Field(ipv6)
  ipv6!: string;
}

/** @param text a validated address of a path or body. */
export function toAddress(text: string): Ipv6Words {
  return parseIpv6(text) as Ipv6Words;
}

/** Where a body names the profile. */
export const PROFILE_LOCATION = ['body', 'profile_id'] as const;

export function toRecord(dto: Ipv6NetworkDto): NetworkRecord<Ipv6Words> {
  return {
    address: toAddress(dto.ip),
    prefixLength: dto.prefix_len,
    profileId: dto.profile_id,
  };
}

export function toPatch(dto: PatchIpv6NetworkDto): Partial<NetworkRecord<Ipv6Words>> {
  return {
    ...(dto.ip !== undefined && { address: toAddress(dto.ip) }),
    ...(dto.prefix_len !== undefined && { prefixLength: dto.prefix_len }),
    ...(dto.profile_id !== undefined && { profileId: dto.profile_id }),
  };
}

export function toDto(record: NetworkRecord<Ipv6Words>): Json<Ipv6NetworkDto> {
  return {
    ip: formatIpv6(record.address),
    profile_id: record.profileId,
    prefix_len: record.prefixLength,
  };
}
