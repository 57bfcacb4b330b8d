import { ERRORS, type ErrorCode } from '../errors/errors.js';
import type { Endpoint } from '../routing/discover-endpoints.js';
import type { ValueSchema } from '../validation/checks.js';
import { FAULT_TYPES, MAX_FAULTS } from '../validation/fault.js';

/** Bodies of refusals. */
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
  503: { 'Retry-After': { schema: text, description: 'Seconds' } },
};

const OF_ANY: readonly ErrorCode[] = [
  'notAuthenticated',
  'sourceNotApproved',
  'internal',
  'databaseUnreachable',
];
const OF_BODIES: readonly ErrorCode[] = ['bodyTooLarge', 'notJson'];

/** Everything that an endpoint may answer instead of its success, by status. */
export function errorResponsesOf({ takes, gives, body }: Endpoint): Record<string, object> {
  const codes = [
    ...OF_ANY,
    ...(body === 'none' ? [] : OF_BODIES),
    ...(gives.refusals ?? []).map((status): ErrorCode =>
      status === 404 ? 'notFound' : 'conflict',
    ),
  ];
  const refusals = codes.map((code) => [ERRORS[code].status, refusal(code)] as const);
  const faulty = takes.path !== undefined || body !== 'none';
  return Object.fromEntries([
    ...refusals,
    ...(faulty ? [[422, answer('The request is wrong; each fault with its place', 'Faults')]] : []),
  ]) as Record<string, object>;
}

function refusal(code: ErrorCode): object {
  const { status, detail } = ERRORS[code];
  return {
    ...answer(detail, code === 'internal' ? 'InternalError' : 'Refusal'),
    ...(HEADERS[status] && { headers: HEADERS[status] }),
  };
}

function answer(description: string, schema: string): object {
  const content = { schema: { $ref: `#/components/schemas/${schema}` } };
  return { description, content: { 'application/json': content } };
}
