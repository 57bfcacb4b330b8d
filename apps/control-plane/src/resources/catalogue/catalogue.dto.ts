import { LIST_FORMATS } from '@weir/catalogue';
import { PURPOSES } from '@weir/policy';
import { IsOptional } from 'class-validator';
import { Example, exampleOf } from '../../http/validation/dto.js';
import {
  AbsentWhere,
  InPlaceOf,
  IsAnswered,
  IsFlag,
  IsId,
  IsInteger,
  IsList,
  IsNestedList,
  IsOneOf,
  IsText,
  IsTime,
  RequiredWithout,
} from '../../http/validation/rules.js';
import { IsDomain, IsNormalisedDomain } from '../domain-lists/domain-check.js';

const MAX = Number.MAX_SAFE_INTEGER;
const SECRET = 'the category is secret';
const MAX_SOURCE = 2048;

@Example<CategoryDto>({
  ...{ id: 2, name: 'Gambling', group: 'Adults', purpose: 'parental', mandatory: false },
  domains: 51204,
})
export class CategoryDto {
  @IsId() id!: number;
  @AbsentWhere(SECRET) @IsText('a name') name?: string;
  @AbsentWhere(SECRET) @IsOptional() @IsText('a group') group?: string | null;
  @AbsentWhere(SECRET) @IsOptional() @IsOneOf(PURPOSES) purpose?: string | null;

  /** Whether it is denied to everybody. */
  @AbsentWhere(SECRET) @IsFlag() mandatory?: boolean;
  @AbsentWhere(SECRET) @IsInteger(0, MAX) domains?: number;
  @AbsentWhere('the category is not secret') @IsFlag() secret?: boolean;
}

/** A list that a category or an application names. */
@Example<CatalogueSourceDto>({
  ...{ cat_id: 2, app_id: null, source: 'https://lists.example/gambling.txt', format: 'domains' },
  ...{ state: 'held', names: 1200, bytes: 9632, licence: 'MIT', commercial_use: true },
  ...{ last_good: '2026-11-23T04:00:00.000Z', mirror: null },
  reason:
    'lists 5120 domains, more than four times the 1200 before: 3921 are new, 1 are gone; ' +
    'the last list stays in force',
})
export class CatalogueSourceDto {
  /** Null: it is of an application. */
  @IsOptional() @IsId() cat_id!: number | null;

  /** Null: it is of a category. */
  @IsOptional() @IsId() app_id!: number | null;
  @IsText('a source') source!: string;
  @IsOneOf(LIST_FORMATS) format!: string;
  @IsOneOf(['good', 'held', 'failing', 'never']) state!: string;
  @IsInteger(0, MAX) names!: number;
  @IsInteger(0, MAX) bytes!: number;
  @IsOptional() @IsText('a licence') licence!: string | null;

  /** Null: the definition does not say. */
  @IsAnswered({
    oneOf: [
      { type: 'boolean', nullable: true },
      { type: 'string', enum: ['unknown'] },
    ],
  })
  commercial_use!: boolean | string | null;

  @IsOptional() @IsTime() last_good!: string | null;

  /** The mirror that has the list, while `source` itself cannot be read: `reason`. Null: none. */
  @IsOptional() @IsText('a mirror') mirror!: string | null;
  @IsOptional() @IsText('a reason') reason!: string | null;
}

@Example<PopularDto>({ cat_id: 3, count: 1, domains: ['github.com'] })
export class PopularDto {
  @IsId() cat_id!: number;
  @IsInteger(1, MAX) count!: number;
  @AbsentWhere(SECRET) @IsList() @IsDomain({ each: true }) domains?: string[];
}

@Example<CatalogueDto>({
  ...{ version: 17, active_since: '2026-11-24T04:00:12.000Z' },
  popular: [exampleOf(PopularDto)],
  sources: [exampleOf(CatalogueSourceDto)],
})
export class CatalogueDto {
  /** Null: there is none yet. */
  @IsOptional() @IsInteger(0, MAX) version!: number | null;
  @IsOptional() @IsTime() active_since!: string | null;

  /** Well-known domains in categories of purpose `security`, and in mandatory ones. */
  @IsNestedList(() => PopularDto) popular!: PopularDto[];
  @IsNestedList(() => CatalogueSourceDto) sources!: CatalogueSourceDto[];
}

@Example<SearchQuery>({ domain: 'www.casino.example.com' })
export class SearchQuery {
  @IsNormalisedDomain() domain!: string;
}

@Example<ListedNameDto>({
  ...{ cat_id: 12, app_id: null, name: 'Gambling', source: 'inline' },
  ...{ matched: 'casino.example.com', line: 4, since: '2026-11-20T04:00:00.000Z' },
})
export class ListedNameDto {
  @IsOptional() @IsId() cat_id!: number | null;
  @IsOptional() @IsId() app_id!: number | null;
  @IsText('a name') name!: string;

  /** `inline`: the definition itself. */
  @IsText('a source') source!: string;

  /** What the list has: the name that was asked for, or one above it. */
  @IsText('a domain') matched!: string;
  @IsInteger(1, MAX) line!: number;
  @IsTime() since!: string;
}

/** Either `cat_id` or `app_id`. */
@Example<AcceptDto>({ cat_id: 2, source: 'https://lists.example/gambling.txt' })
export class AcceptDto {
  @RequiredWithout('app_id') @IsOptional() @IsId() cat_id?: number | null;
  @IsOptional() @InPlaceOf('cat_id') @IsId() app_id?: number | null;

  @IsText('the source of a held list', (text) => text !== '' && text.length <= MAX_SOURCE)
  source!: string;
}
