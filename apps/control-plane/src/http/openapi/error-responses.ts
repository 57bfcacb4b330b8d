import { ERRORS, type ErrorCode } from '../errors/errors.js';
import type { Endpoint } from '../routing/endpoint.js';
import type { ValueSchema } from '../validation/rules.js';
import { FAULT_TYPES, MAX_FAULTS } from '../validation/fault.js';

export const ERROR_SCHEMAS: Readonly<Record<string, ValueSchema>> = {
  Refusal: {
    type: 'object',
    additionalProperties: false,
    required: ['detail'],
    properties: { detail: { type: 'string' } },
  },
  InternalError: {
    type: 'object',
    additionalProperties: false,
    required: ['detail', 'request_id'],
    properties: { detail: { type: 'string' }, request_id: { type: 'string' } },
  },
  Fault: {
    type: 'object',
    additionalProperties: false,
    required: ['loc', 'msg', 'type'],
    properties: {
      loc: {
        type: 'array',
        items: { type: 'string' },
        minItems: 1,
        example: ['body', 'nets', '3', 'prefix_len'],
      },
      msg: { type: 'string', example: 'Must be an integer from 10 to 32' },
      type: { type: 'string', enum: FAULT_TYPES },
    },
  },
  Faults: {
    type: 'object',
    additionalProperties: false,
    required: ['detail'],
    properties: {
      detail: {
        type: 'array',
        items: { $ref: '#/components/schemas/Fault' },
        minItems: 1,
        maxItems: MAX_FAULTS,
      },
    },
  },
};

const text = { type: 'string' };

const HEADERS: Readonly<Partial<Record<number, Record<string, object>>>> = {
  401: { 'WWW-Authenticate': { schema: text, description: 'Bearer' } },
  429: { 'Retry-After': { schema: text, description: 'Seconds' } },
  503: { 'Retry-After': { schema: text, description: 'Seconds' } },
};

const ANY_ENDPOINT: readonly ErrorCode[] = [
  'notAuthenticated',
  'sourceNotApproved',
  'scopeMissing',
  'tooManyCalls',
];
const ENDPOINTS_WITH_DATABASE: readonly ErrorCode[] = ['internal', 'databaseUnreachable', 'busy'];
const ENDPOINTS_THAT_CHANGE: readonly ErrorCode[] = ['commitUnknown'];
const ENDPOINTS_WITH_BODY: readonly ErrorCode[] = ['bodyStalled', 'bodyTooLarge', 'notJson'];

export function errorResponsesOf({
  method,
  path,
  query,
  body,
  streamed,
  isLocal,
  errors = [],
}: Endpoint): Record<string, object> {
  const hasBody = body !== undefined || streamed !== undefined;
  const codes = [
    ...ANY_ENDPOINT,
    ...(isLocal ? [] : ENDPOINTS_WITH_DATABASE),
    ...(method === 'GET' ? [] : ENDPOINTS_THAT_CHANGE),
    ...(hasBody ? ENDPOINTS_WITH_BODY : []),
    ...errors.map((status): ErrorCode => (status === 404 ? 'notFound' : 'conflict')),
  ];
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status);
  const refusals = [...byStatus].map(([status, some]) => [status, refusal(status, some)] as const);
  const faulty = path !== undefined || query !== undefined || hasBody;
  return Object.fromEntries([
    ...refusals,
    ...(faulty
      ? [[422, answer('The request is not valid; each fault has its location', 'Faults')]]
      : []),
  ]) as Record<string, object>;
}

function refusal(status: number, codes: readonly ErrorCode[]): object {
  const details = codes.map((code) => ERRORS[code].detail);
  return {
    ...answer(details.join('. Or: '), status === 500 ? 'InternalError' : 'Refusal'),
    ...(HEADERS[status] && { headers: HEADERS[status] }),
  };
}

function answer(description: string, schema: string): object {
  const content = { schema: { $ref: `#/components/schemas/${schema}` } };
  return { description, content: { 'application/json': content } };
}
