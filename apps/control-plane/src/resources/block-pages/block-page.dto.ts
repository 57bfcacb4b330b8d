import { type BlockPage, MAX_ID } from '@weir/config-model';
import { Example } from '../../http/validation/dto.js';
import { IsId, IsOneOf, Optional, IntegerParameter } from '../../http/validation/rules.js';

/** 0: default block page, 1: custom block page. */
const IsPageType = (): PropertyDecorator => IsOneOf([0, 1]);

@Example<BlockPageDto>({ id: 1, type: 1 })
export class BlockPageDto implements BlockPage {
  @IsId() id!: number;
  @IsPageType() type!: number;
}

@Example<PatchBlockPageDto>({ type: 0 })
export class PatchBlockPageDto {
  /** Must be equal to the path parameter. */
  @Optional() @IsId() id?: number;
  @IsPageType() type!: number;
}

@Example<BlockPagePath>({ page_id: 1 })
export class BlockPagePath {
  @IntegerParameter(0, MAX_ID) page_id!: number;
}
