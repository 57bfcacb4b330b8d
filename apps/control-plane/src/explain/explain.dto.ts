import { applyDecorators } from '@nestjs/common';
import { MAX_DOMAIN_HASH, MAX_ID } from '@weir/config-model';
import { IsOptional } from 'class-validator';
import { Example, exampleOf } from '../http/validation/dto.js';
import {
  AbsentWhere,
  Convert,
  InPlaceOf,
  IntegerParameter,
  IsAnswered,
  IsFlag,
  IsId,
  IsInteger,
  IsNested,
  IsNestedList,
  IsOneOf,
  IsText,
  IsTime,
  Optional,
  RequiredWithout,
} from '../http/validation/rules.js';
import { IsNormalisedDomain } from '../resources/domain-lists/domain-check.js';
import { LAST_PORT, parseIpv4, parseIpv6 } from '../resources/networks/addresses/addresses.js';
import { readType } from './record-types.js';

const MAX_TTL = 2 ** 31 - 1;

function IsAnyText(schema: { example?: string } = {}): PropertyDecorator {
  return IsText('a text', () => true, schema);
}

/** An IPv4 address, or an IPv6 address without zone that is not IPv4-mapped. */
function IsAddress(): PropertyDecorator {
  return IsText(
    'an IPv4 or IPv6 address',
    (text) => parseIpv4(text) !== null || parseIpv6(text) !== null,
    { example: '192.0.2.1' },
  );
}

/** The name of a record type in any case, or `TYPE65`. */
function IsType(): PropertyDecorator {
  return applyDecorators(
    Convert((value) => (typeof value === 'string' ? value.toUpperCase() : value)),
    IsText('a record type such as AAAA or TYPE65', (text) => readType(text) !== null, {
      example: 'A',
    }),
  );
}

@Example<ExplainQuery>({ client: '192.0.2.1', domain: 'www.example.com', type: 'A' })
export class ExplainQuery {
  @RequiredWithout('incident')
  @IsAddress()
  client?: string;

  /** In normal form after validation. */
  @RequiredWithout('incident')
  @IsNormalisedDomain()
  domain?: string;

  @Optional()
  @IntegerParameter(0, LAST_PORT)
  port?: number;

  @Optional()
  @IsType()
  type = 'A';

  @Optional()
  @IsTime()
  at?: string;

  /** What a block page has shown. */
  @Optional()
  @InPlaceOf('client', 'port', 'domain', 'at')
  @IsText('an incident number', () => true, {
    description:
      'As a block page shows it, for a day. In place of client and domain, which are required otherwise, port and at.',
  })
  incident?: string;
}

@Example<ExplainedClientDto>({ address: '192.0.2.1', port: null })
export class ExplainedClientDto {
  @IsAddress()
  address!: string;

  @IsOptional()
  @IsInteger(0, LAST_PORT)
  port!: number | null;
}

/** The record by which the client is found: its kind, and its fields as its resource shows them. */
@Example<SubscriberDto>({ kind: 'net', ip: '192.0.2.0', prefix_len: 24, profile_id: 1 })
export class SubscriberDto {
  @IsOneOf(['napt', 'net', 'net6'])
  kind!: string;

  @IsAddress()
  ip!: string;

  @IsId()
  profile_id!: number;

  @AbsentWhere('a range of ports')
  @IsInteger(10, 128)
  prefix_len?: number;

  @AbsentWhere('a network')
  @IsInteger(0, LAST_PORT)
  lower_port_bound?: number;

  @AbsentWhere('a network')
  @IsInteger(0, LAST_PORT)
  upper_port_bound?: number;
}

@Example<ExplainedScheduleDto>({
  target_profile_id: 2,
  since: '2026-11-23T20:00:00.000Z',
  until: '2026-11-24T06:00:00.000Z',
})
export class ExplainedScheduleDto {
  @IsId()
  target_profile_id!: number;

  @IsOptional()
  @IsTime()
  since!: string | null;

  @IsOptional()
  @IsTime()
  until!: string | null;
}

@Example<ExplainedProfileDto>({ id: 1, active_id: 1, schedule: null, next_switch: null })
export class ExplainedProfileDto {
  @IsId()
  id!: number;

  @IsId()
  active_id!: number;

  @IsOptional()
  @IsNested(() => ExplainedScheduleDto)
  schedule!: ExplainedScheduleDto | null;

  @IsOptional()
  @IsTime()
  next_switch!: string | null;
}

export const STEPS = [
  'special',
  'order',
  'grant',
  'domain_rule',
  'application',
  'white_list_only',
  'category',
  'default',
] as const;
export type StepName = (typeof STEPS)[number];

@Example<StepDto>({ step: 'domain_rule', verdict: 'deny', matched: 'example.com', decided: true })
export class StepDto {
  @IsOneOf(STEPS)
  step!: StepName;

  @IsOneOf(['allow', 'deny', 'none'])
  verdict!: 'allow' | 'deny' | 'none';

  /** The suffix of the name that matched. */
  @IsOptional()
  @IsAnyText({ example: 'example.com' })
  matched!: string | null;

  @IsFlag()
  decided!: boolean;

  @AbsentWhere('no order matched')
  @IsInteger(0, MAX_ID)
  order_id?: number;

  @AbsentWhere('no grant matched')
  @IsInteger(0, MAX_DOMAIN_HASH)
  grant_id?: number;

  @AbsentWhere('no application matched')
  @IsInteger(0, MAX_ID)
  app_id?: number;

  @AbsentWhere('no category matched')
  @IsInteger(0, MAX_ID)
  cat_id?: number;

  @AbsentWhere('neither matched')
  @IsAnyText({ example: 'Gambling' })
  name?: string;

  /** The file or URL of the list of the category that holds `matched`, or `inline`. */
  @AbsentWhere('no category matched, or its lists no longer hold the name')
  @IsAnyText({ example: 'lists/gambling.txt' })
  source?: string;

  /** When that list was first read with it. */
  @AbsentWhere('there is no source')
  @IsTime()
  listed_since?: string;
}

@Example<AnswerRecordDto>({ type: 'A', ttl: 10, data: '192.0.2.80' })
export class AnswerRecordDto {
  @IsAnyText({ example: 'A' })
  type!: string;

  @IsInteger(0, MAX_TTL)
  ttl!: number;

  /** In presentation format; of a type without one as RFC 3597 §5 writes it. */
  @IsAnyText({ example: '192.0.2.80' })
  data!: string;
}

@Example<ExtendedErrorDto>({ code: 17, text: 'deny list' })
export class ExtendedErrorDto {
  @IsInteger(0, 0xffff)
  code!: number;

  @IsAnyText()
  text!: string;
}

@Example<DnsAnswerDto>({
  rcode: 'NOERROR',
  records: [exampleOf(AnswerRecordDto)],
  ede: exampleOf(ExtendedErrorDto),
})
export class DnsAnswerDto {
  @IsAnyText({ example: 'NOERROR' })
  rcode!: string;

  @IsNestedList(() => AnswerRecordDto)
  records!: AnswerRecordDto[];

  @IsOptional()
  @IsNested(() => ExtendedErrorDto)
  ede!: ExtendedErrorDto | null;
}

@Example<OriginDto>({
  revision: 5,
  time: '2026-11-24T12:00:00.000Z',
  token: 'back-office',
  request_id: '6f1c8a3e-5b1f-4a53-9a35-0a4f3b7b2a10',
})
export class OriginDto {
  @IsInteger(1, Number.MAX_SAFE_INTEGER)
  revision!: number;

  @IsTime()
  time!: string;

  @IsOptional()
  @IsAnyText()
  token!: string | null;

  @IsOptional()
  @IsAnyText()
  request_id!: string | null;
}

@Example<FlipDto>({ method: 'DELETE', path: '/profile/1/bw_list/www.example.com', body: null })
export class FlipDto {
  @IsOneOf(['POST', 'PATCH', 'DELETE'])
  method!: string;

  @IsAnyText()
  path!: string;

  @IsOptional()
  @IsAnswered({ type: 'object', additionalProperties: true })
  body!: object | null;
}

@Example<ExplanationDto>({
  client: exampleOf(ExplainedClientDto),
  domain: 'www.example.com',
  type: 'A',
  at: '2026-11-24T12:00:00.000Z',
  revision: 5,
  subscriber: exampleOf(SubscriberDto),
  profile: exampleOf(ExplainedProfileDto),
  steps: [
    { step: 'order', verdict: 'none', matched: null, decided: false },
    { step: 'grant', verdict: 'none', matched: null, decided: false },
    exampleOf(StepDto),
    { step: 'application', verdict: 'none', matched: null, decided: false },
    { step: 'white_list_only', verdict: 'none', matched: null, decided: false },
    { step: 'category', verdict: 'none', matched: null, decided: false },
    { step: 'default', verdict: 'allow', matched: null, decided: false },
  ],
  verdict: 'deny',
  rewrite: null,
  target: null,
  targets_judged: false,
  answer: exampleOf(DnsAnswerDto),
  since: exampleOf(OriginDto),
  flip: {
    method: 'POST',
    path: '/profile/1/bw_list',
    body: { type: 'allow', domain: 'www.example.com' },
  },
})
export class ExplanationDto {
  @IsNested(() => ExplainedClientDto)
  client!: ExplainedClientDto;

  /** In normal form. */
  @IsAnyText({ example: 'www.example.com' })
  domain!: string;

  @IsAnyText({ example: 'A' })
  type!: string;

  @IsTime()
  at!: string;

  @IsInteger(0, Number.MAX_SAFE_INTEGER)
  revision!: number;

  @IsOptional()
  @IsNested(() => SubscriberDto)
  subscriber!: SubscriberDto | null;

  @IsOptional()
  @IsNested(() => ExplainedProfileDto)
  profile!: ExplainedProfileDto | null;

  /** In the order in which they are asked. */
  @IsNestedList(() => StepDto)
  steps!: StepDto[];

  @IsOneOf(['allow', 'deny', 'unfiltered', 'refused'])
  verdict!: 'allow' | 'deny' | 'unfiltered' | 'refused';

  /** Where safe search sends the name. */
  @IsOptional()
  @IsAnyText({ example: 'safe.example.com' })
  rewrite!: string | null;

  /** The alias in the answer of an upstream that is denied, as an incident number tells. The steps are about it. */
  @IsOptional()
  @IsAnyText({ example: 'ads.example.com' })
  target!: string | null;

  /** Whether a target in the answer of an upstream may still be denied. */
  @IsFlag()
  targets_judged!: boolean;

  /** Null where it comes from an upstream. */
  @IsOptional()
  @IsNested(() => DnsAnswerDto)
  answer!: DnsAnswerDto | null;

  /** The change that made what decided. */
  @IsOptional()
  @IsNested(() => OriginDto)
  since!: OriginDto | null;

  /** The call that turns the verdict over. */
  @IsOptional()
  @IsNested(() => FlipDto)
  flip!: FlipDto | null;
}
