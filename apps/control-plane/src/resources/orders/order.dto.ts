import { applyDecorators } from '@nestjs/common';
import { MAX_DOMAIN_HASH, MAX_ID, MAX_ORDER_TEXT, MAX_UNTIL, type Order } from '@weir/config-model';
import { parseTime } from '@weir/ops';
import { IsOptional } from 'class-validator';
import { Example, type Json } from '../../http/validation/dto.js';
import { allOptional } from '../../http/validation/fields.js';
import {
  IntegerParameter,
  IsId,
  IsInteger,
  IsNested,
  IsOneOf,
  IsText,
  IsTime,
  Optional,
  Rule,
} from '../../http/validation/rules.js';
import { IsNormalisedDomain } from '../domain-lists/domain-check.js';
import { type OrderState, toTimeText } from './order-store.js';

const DAY_S = 86_400;

/** A time that is still to come, cut to whole seconds. @param days at most this many days from now. */
export function IsUntil(days = Infinity): PropertyDecorator {
  const msg =
    days === Infinity
      ? 'Must be in the future'
      : `Must be in the future, at most ${days} days from now`;
  return applyDecorators(
    IsTime(),
    Rule((text) => {
      const [nowS, untilS] = [Date.now() / 1_000, toSeconds(text as string)];
      const isRight = untilS > nowS && untilS <= Math.min(MAX_UNTIL, nowS + days * DAY_S);
      return isRight ? null : { msg, type: 'value_error' };
    }),
  );
}

/** Unix seconds of a text that `IsUntil` allows. */
export function toSeconds(text: string): number {
  return Math.floor(parseTime(text) / 1_000);
}

/** A text that the block page shows as it is. */
const IsShownText = (): PropertyDecorator =>
  IsText(
    `a text of 1 to ${MAX_ORDER_TEXT} characters, none of them a control character`,
    (text) => {
      const { length } = Array.from(text);
      return (
        length >= 1 && length <= MAX_ORDER_TEXT && text.isWellFormed() && !/\p{Cc}/u.test(text)
      );
    },
    { minLength: 1, maxLength: MAX_ORDER_TEXT },
  );

const TEXTS = { authority: 'District Court of Exampleton', reference: '12 O 345/26' };
const UNTIL = '2099-12-31T23:00:00Z';

@Example<OrderDto>({ id: 7, domain: 'example.org', ...TEXTS, until: UNTIL })
export class OrderDto {
  @IsId() id!: number;

  /** In normal form after validation. The order covers it and all names below it. */
  @IsNormalisedDomain() domain!: string;
  @IsShownText() authority!: string;
  @IsShownText() reference!: string;

  /** Null: no end. */
  @IsOptional() @IsUntil() until: string | null = null;
}

@Example<PatchOrderDto>({ until: null })
export class PatchOrderDto extends allOptional(OrderDto) {}

@Example<OrderPath>({ id: 7 })
export class OrderPath {
  @IntegerParameter(0, MAX_ID) id!: number;
}

const ORDER_STATES = ['in_force', 'pending', 'ended'] as const;

@Example<OrdersQuery>({ limit: 100 })
export class OrdersQuery {
  /** The id after which to begin. */
  @Optional() @IntegerParameter(0, MAX_ID) after?: number;

  /** At most this many; absent: all. */
  @Optional() @IntegerParameter(1, 1_000) limit?: number;

  /** Those that have this in their id, authority or reference, in any case. */
  @Optional() @IsShownText() search?: string;

  /** `in_force`: all resolvers are known to have it in force; `ended`: its time is over; `pending`: neither. */
  @Optional() @IsOneOf(ORDER_STATES) state?: (typeof ORDER_STATES)[number];
}

/** The values $1 to $4 of `FILTERED_ORDERS`. */
export function filterValues({ after = -1, search = '', state, limit }: OrdersQuery): unknown[] {
  return [after, search, state ?? '', limit ?? null];
}

const STORED: Json<StoredOrderDto> = {
  id: 7,
  domain_hash: 4_503_599_627_370_495,
  ...TEXTS,
  until: UNTIL,
};

/** A stored order. The domain itself is not stored. */
@Example<StoredOrderDto>(STORED)
export class StoredOrderDto {
  @IsId() id!: number;
  @IsInteger(0, MAX_DOMAIN_HASH) domain_hash!: number;
  @IsShownText() authority!: string;
  @IsShownText() reference!: string;

  /** It has ended when this time is over. */
  @IsOptional() @IsTime() until!: string | null;
}

const IN_FORCE = { revision: 42, k: 3, m: 3, at: '2026-11-24T12:00:00.000Z' };

@Example<InForceDto>(IN_FORCE)
class InForceDto {
  @IsInteger(1, Number.MAX_SAFE_INTEGER) revision!: number;

  /** Resolvers that had the change in force. */
  @IsInteger(0, MAX_ID) k!: number;

  /** How many resolvers there were. */
  @IsInteger(0, MAX_ID) m!: number;
  @IsTime() at!: string;
}

@Example<OrderStateDto>({ ...STORED, in_force: IN_FORCE })
export class OrderStateDto extends StoredOrderDto {
  /** What `X-Config-Applied` said of its last change, and when; null: it is not known. */
  @IsOptional() @IsNested(() => InForceDto) in_force!: InForceDto | null;
}

/** @param hash of a domain in normal form. */
export function toOrder(dto: OrderDto, hash: (domain: string) => number): Order {
  const { id, domain, authority, reference, until } = dto;
  return { id, domainHash: hash(domain), authority, reference, until: toEnd(until) };
}

function toEnd(until: string | null): number | null {
  return until === null ? null : toSeconds(until);
}

export function toPatch(
  { domain, authority, reference, until }: PatchOrderDto,
  hash: (domain: string) => number,
): Partial<Omit<Order, 'id'>> {
  return {
    ...(domain !== undefined && { domainHash: hash(domain) }),
    ...(authority !== undefined && { authority }),
    ...(reference !== undefined && { reference }),
    ...(until !== undefined && { until: toEnd(until) }),
  };
}

export function toDto(order: Order): Json<StoredOrderDto> {
  const { id, domainHash, authority, reference, until } = order;
  const untilText = until === null ? null : toTimeText(until);
  return { id, domain_hash: domainHash, authority, reference, until: untilText };
}

export function toStateDto(order: OrderState): Json<OrderStateDto> {
  return { ...toDto(order), in_force: order.inForce };
}
