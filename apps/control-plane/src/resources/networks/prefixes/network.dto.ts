import { type DtoClass, Example, type Json } from '../../../http/validation/dto.js';
import { allOptional } from '../../../http/validation/fields.js';
import { IsId, IsInteger, Optional, IntegerParameter } from '../../../http/validation/rules.js';
import {
  IsIpv4,
  IsIpv6,
  MAX_INT_IP,
  type AddressFamily,
  IPV4,
  IPV6,
} from '../addresses/addresses.js';
import type { NetworkRecord } from './network-store.js';

export interface NetworkDto {
  ip: string;
  profile_id: number;
  prefix_len: number;
}

function networkDto<A>(
  { prefixLengths: [shortest, longest] }: AddressFamily<A>,
  IsAddress: () => PropertyDecorator,
): DtoClass<NetworkDto> {
  class Whole implements NetworkDto {
    @IsAddress()
    ip!: string;

    @IsId()
    profile_id!: number;

    @Optional()
    @IsInteger(shortest, longest)
    prefix_len = longest;
  }
  return Whole;
}

@Example<Ipv4NetworkDto>({ ip: '192.0.2.0', profile_id: 1, prefix_len: 24 })
export class Ipv4NetworkDto extends networkDto(IPV4, IsIpv4) {}

@Example<PatchIpv4NetworkDto>({ profile_id: 2 })
export class PatchIpv4NetworkDto extends allOptional(Ipv4NetworkDto) {}

@Example<Ipv4NetworkPath>({ int_ip: 3_221_225_984 })
export class Ipv4NetworkPath {
  @IntegerParameter(0, MAX_INT_IP) int_ip!: number;
}

@Example<Ipv6NetworkDto>({ ip: '2001:db8::', profile_id: 1, prefix_len: 56 })
export class Ipv6NetworkDto extends networkDto(IPV6, IsIpv6) {}

@Example<PatchIpv6NetworkDto>({ profile_id: 2 })
export class PatchIpv6NetworkDto extends allOptional(Ipv6NetworkDto) {}

@Example<Ipv6NetworkPath>({ ipv6: '2001:db8::' })
export class Ipv6NetworkPath {
  /** Any text form of the address. */
  @IsIpv6() ipv6!: string;
}

/** @param dto validated */
export function toRecord<A>(family: AddressFamily<A>, dto: NetworkDto): NetworkRecord<A> {
  const { ip, prefix_len: prefixLength, profile_id: profileId } = dto;
  return { address: family.parse(ip) as A, prefixLength, profileId };
}

export function toDto<A>(family: AddressFamily<A>, record: NetworkRecord<A>): Json<NetworkDto> {
  const { address, prefixLength, profileId } = record;
  return { ip: family.format(address), profile_id: profileId, prefix_len: prefixLength };
}
