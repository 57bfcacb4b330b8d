import { Example, type Json } from '../../../http/validation/dto.js';
import { IsId, IsInteger, Optional, PathInteger } from '../../../http/validation/rules.js';
import { IsIpv4, MAX_INT_IP } from '../addresses/address-checks.js';
import { formatIpv4, parseIpv4 } from '../addresses/ipv4.js';
import type { NetworkRecord } from './network-store.js';

const IsPrefixLength = (): PropertyDecorator => IsInteger(10, 32);

@Example<Ipv4NetworkDto>({ ip: '192.0.2.0', profile_id: 1, prefix_len: 24 })
export class Ipv4NetworkDto {
  @IsIpv4()
  ip!: string;

  @IsId()
  profile_id!: number;

  @Optional()
  @IsPrefixLength()
  prefix_len = 32;
}

@Example<PatchIpv4NetworkDto>({ profile_id: 2 })
export class PatchIpv4NetworkDto {
  @Optional()
  @IsIpv4()
  ip?: string;

  @Optional()
  @IsId()
  profile_id?: number;

  @Optional()
  @IsPrefixLength()
  prefix_len?: number;
}

@Example<Ipv4NetworkPath>({ int_ip: 3_221_225_984 })
export class Ipv4NetworkPath {
  @PathInteger(0, MAX_INT_IP)
  int_ip!: number;
}

/** Where a body names the profile. */
export const PROFILE_LOCATION = ['body', 'profile_id'] as const;

export function toRecord(dto: Ipv4NetworkDto): NetworkRecord<number> {
  return {
    address: parseIpv4(dto.ip) as number,
    prefixLength: dto.prefix_len,
    profileId: dto.profile_id,
  };
}

export function toPatch(dto: PatchIpv4NetworkDto): Partial<NetworkRecord<number>> {
  return {
    ...(dto.ip !== undefined && { address: parseIpv4(dto.ip) as number }),
    ...(dto.prefix_len !== undefined && { prefixLength: dto.prefix_len }),
    ...(dto.profile_id !== undefined && { profileId: dto.profile_id }),
  };
}

export function toDto(record: NetworkRecord<number>): Json<Ipv4NetworkDto> {
  return {
    ip: formatIpv4(record.address),
    profile_id: record.profileId,
    prefix_len: record.prefixLength,
  };
}
