import type { Ipv6Words } from '@weir/config-model';
import { type DtoClass, Example, type Json } from '../../../http/validation/dto.js';
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

/** A network in a body. */
export interface NetworkDto {
  ip: string;
  profile_id: number;
  prefix_len: number;
}

/** The fields of a network, and those of a patch, which are all optional. */
function networkDtos<A>(
  { prefixLengths: [shortest, longest] }: AddressFamily<A>,
  IsAddress: () => PropertyDecorator,
): { readonly Whole: DtoClass<NetworkDto>; readonly Patch: DtoClass<Partial<NetworkDto>> } {
  class Whole implements NetworkDto {
    @IsAddress()
    ip!: string;

    @IsId()
    profile_id!: number;

    @Optional()
    @IsInteger(shortest, longest)
    prefix_len = longest;
  }
  class Patch implements Partial<NetworkDto> {
    @Optional()
    @IsAddress()
    ip?: string;

    @Optional()
    @IsId()
    profile_id?: number;

    @Optional()
    @IsInteger(shortest, longest)
    prefix_len?: number;
  }
  return { Whole, Patch };
}

const ipv4 = networkDtos(IPV4, IsIpv4);
const ipv6 = networkDtos(IPV6, IsIpv6);

@Example<Ipv4NetworkDto>({ ip: '192.0.2.0', profile_id: 1, prefix_len: 24 })
export class Ipv4NetworkDto extends ipv4.Whole {}

@Example<PatchIpv4NetworkDto>({ profile_id: 2 })
export class PatchIpv4NetworkDto extends ipv4.Patch {}

@Example<Ipv4NetworkPath>({ int_ip: 3_221_225_984 })
export class Ipv4NetworkPath {
  @IntegerParameter(0, MAX_INT_IP)
  int_ip!: number;
}

@Example<Ipv6NetworkDto>({ ip: '2001:db8::', profile_id: 1, prefix_len: 56 })
export class Ipv6NetworkDto extends ipv6.Whole {}

@Example<PatchIpv6NetworkDto>({ profile_id: 2 })
export class PatchIpv6NetworkDto extends ipv6.Patch {}

@Example<Ipv6NetworkPath>({ ipv6: '2001:db8::' })
export class Ipv6NetworkPath {
  /** Any text form of the address. */
  @IsIpv6()
  ipv6!: string;
}

/** Where a body names the profile. */
export const PROFILE_LOCATION = ['body', 'profile_id'] as const;

export const IPV4_DTO = conversions(IPV4);
export const IPV6_DTO = conversions<Ipv6Words>(IPV6);

export type NetworkConversions<A> = ReturnType<typeof conversions<A>>;

/** From validated bodies and paths to records, and back. */
function conversions<A>(family: AddressFamily<A>) {
  const toAddress = (text: string): A => family.parse(text) as A;
  return {
    toAddress,
    toRecord: (dto: NetworkDto): NetworkRecord<A> => ({
      address: toAddress(dto.ip),
      prefixLength: dto.prefix_len,
      profileId: dto.profile_id,
    }),
    toPatch: (dto: Partial<NetworkDto>): Partial<NetworkRecord<A>> => ({
      ...(dto.ip !== undefined && { address: toAddress(dto.ip) }),
      ...(dto.prefix_len !== undefined && { prefixLength: dto.prefix_len }),
      ...(dto.profile_id !== undefined && { profileId: dto.profile_id }),
    }),
    toDto: (record: NetworkRecord<A>): Json<NetworkDto> => ({
      ip: family.format(record.address),
      profile_id: record.profileId,
      prefix_len: record.prefixLength,
    }),
  };
}
