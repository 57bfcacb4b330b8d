import { UPSTREAM_STATES } from '@weir/change-feed';
import { IsOptional } from 'class-validator';
import { Example, type Json } from '../../http/validation/dto.js';
import {
  IsInteger,
  IsNestedList,
  IsNumber,
  IsOneOf,
  IsText,
  IsTime,
} from '../../http/validation/rules.js';

const UPSTREAM: Json<UpstreamDto> = { address: '192.0.2.53:53', state: 'up' };

@Example<UpstreamDto>(UPSTREAM)
export class UpstreamDto {
  @IsText('an address')
  address!: string;

  @IsOneOf(UPSTREAM_STATES)
  state!: string;
}

const MAX = Number.MAX_SAFE_INTEGER;

/** Null where nothing was said: by a resolver of another version, or of a ratio of nothing. */
@Example<ResolverDto>({
  id: 'dns-1-4711-0d9c2f6e-3f1b-4f6a-9d0e-8a7b6c5d4e3f',
  name: 'dns-1:53',
  address: '192.0.2.1:53',
  version: '0.1.0',
  state: 'live',
  revision: 1042,
  behind_revisions: 0,
  behind_seconds: 0,
  catalogue: 17,
  last_seen: '2026-11-24T12:00:00.250Z',
  threads: 3,
  answers_per_second: 1850.5,
  cache_hit_ratio: 0.912,
  blocked_ratio: 0.041,
  upstreams: [UPSTREAM],
})
export class ResolverDto {
  @IsText('an id')
  id!: string;

  @IsText('a name')
  name!: string;

  @IsOptional()
  @IsText('an address')
  address!: string | null;

  @IsOptional()
  @IsText('a version')
  version!: string | null;

  @IsOneOf(['live', 'catching_up', 'missing'])
  state!: string;

  @IsInteger(0, MAX)
  revision!: number;

  @IsOptional()
  @IsInteger(0, MAX)
  behind_revisions!: number | null;

  @IsOptional()
  @IsNumber(0)
  behind_seconds!: number | null;

  @IsOptional()
  @IsInteger(0, MAX)
  catalogue!: number | null;

  @IsTime()
  last_seen!: string;

  @IsOptional()
  @IsInteger(0, MAX)
  threads!: number | null;

  @IsOptional()
  @IsNumber(0)
  answers_per_second!: number | null;

  @IsOptional()
  @IsNumber(0, 1)
  cache_hit_ratio!: number | null;

  @IsOptional()
  @IsNumber(0, 1)
  blocked_ratio!: number | null;

  @IsNestedList(() => UpstreamDto)
  upstreams!: UpstreamDto[];
}
