import type { Ipv6Words } from '@weir/config-model';
import { Example, type Json } from '../../../http/validation/dto.js';
import { IsId, IsInteger, Optional } from '../../../http/validation/rules.js';
import { IsIpv6 } from '../addresses/address-checks.js';
import { formatIpv6, parseIpv6 } from '../addresses/ipv6.js';
import type { NetworkRecord } from './network-store.js';

const IsPrefixLength = (): PropertyDecorator => IsInteger(16, 128);

@Example<Ipv6NetworkDto>({ ip: '2001:db8::', profile_id: 1, prefix_len: 56 })
export class Ipv6NetworkDto {
  @IsIpv6()
  ip!: string;

  @IsId()
  profile_id!: number;

  @Optional()
  @IsPrefixLength()
  prefix_len = 128;
}

@Example<PatchIpv6NetworkDto>({ profile_id: 2 })
export class PatchIpv6NetworkDto {
  @Optional()
  @IsIpv6()
  ip?: string;

  @Optional()
  @IsId()
  profile_id?: number;

  @Optional()
  @IsPrefixLength()
  prefix_len?: number;
}

@Example<Ipv6NetworkPath>({ ipv6: '2001:db8::' })
export class Ipv6NetworkPath {
  /** Any text form of the address. */
  @IsIpv6()
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
