import { applyDecorators } from '@nestjs/common/decorators/core/apply-decorators.js';
import type { NaptAssignment } from '@weir/config-model';
import { Example, type Json } from '../../../http/validation/dto.js';
import { allOptional } from '../../../http/validation/fields.js';
import { IsId, Optional, IntegerParameter, Rule } from '../../../http/validation/rules.js';
import {
  IsIpv4,
  isPort,
  IsPort,
  LAST_PORT,
  MAX_INT_IP,
  formatIpv4,
  parseIpv4,
} from '../addresses/addresses.js';
import type { NaptKey } from './napt-store.js';
import { UPPER_BELOW_LOWER } from './port-ranges.js';

/** A port that is not below `lower_port_bound` of the same object. An invalid lower bound has its own fault. */
function IsUpperBound(): PropertyDecorator {
  return applyDecorators(
    IsPort(),
    Rule((upper, owner) => {
      const { lower_port_bound: lower } = owner as { lower_port_bound?: unknown };
      const isBelow = isPort(lower) && (upper as number) < lower;
      return isBelow ? { msg: UPPER_BELOW_LOWER, type: 'greater_than_equal' } : null;
    }),
  );
}

/** The key of an assignment: an item of a batch deletion. */
@Example<NaptKeyDto>({ ip: '198.51.100.1', lower_port_bound: 1024, upper_port_bound: 2047 })
export class NaptKeyDto {
  @IsIpv4() ip!: string;
  @Optional() @IsPort() lower_port_bound = 0;
  @Optional() @IsUpperBound() upper_port_bound = LAST_PORT;
}

@Example<NaptDto>({
  ip: '198.51.100.1',
  lower_port_bound: 1024,
  upper_port_bound: 2047,
  profile_id: 1,
})
export class NaptDto extends NaptKeyDto {
  @IsId() profile_id!: number;
}

@Example<PatchNaptDto>({ profile_id: 2 })
export class PatchNaptDto extends allOptional(NaptDto) {}

@Example<NaptAddressPath>({ int_ip: 3_325_256_705 })
export class NaptAddressPath {
  @IntegerParameter(0, MAX_INT_IP) int_ip!: number;
}

@Example<NaptPath>({ int_ip: 3_325_256_705, lower_port_bound: 1024, upper_port_bound: 2047 })
export class NaptPath {
  @IntegerParameter(0, MAX_INT_IP) int_ip!: number;
  @IntegerParameter(0, LAST_PORT) lower_port_bound!: number;
  @IntegerParameter(0, LAST_PORT) upper_port_bound!: number;
}

export function toKey(dto: NaptKeyDto): NaptKey {
  return {
    address: parseIpv4(dto.ip) as number,
    lowerPort: dto.lower_port_bound,
    upperPort: dto.upper_port_bound,
  };
}

export function pathKey(path: NaptPath): NaptKey {
  return {
    address: path.int_ip,
    lowerPort: path.lower_port_bound,
    upperPort: path.upper_port_bound,
  };
}

export function toAssignment(dto: NaptDto): NaptAssignment {
  return { ...toKey(dto), profileId: dto.profile_id };
}

export function keyDto({ address, lowerPort, upperPort }: NaptKey): Json<NaptKeyDto> {
  return { ip: formatIpv4(address), lower_port_bound: lowerPort, upper_port_bound: upperPort };
}

export function toDto(assignment: NaptAssignment): Json<NaptDto> {
  return { ...keyDto(assignment), profile_id: assignment.profileId };
}
