import { ERRORS, type ErrorCode } from '../errors/errors.js';
import type { Endpoint } from '../routing/endpoint.js';
import type { ValueSchema } from '../validation/rules.js';
import { FAULT_TYPES, MAX_FAULTS } from '../validation/fault.js';

const text = { type: 'string' };

/** An object that has exactly these fields. */
function closedObject(properties: Readonly<Record<string, ValueSchema>>): ValueSchema {
  const required = Object.keys(properties);
  return { type: 'object', additionalProperties: false, required, properties };
}

export const ERROR_SCHEMAS: Readonly<Record<string, ValueSchema>> = {
  Refusal: closedObject({ detail: text }),
  InternalError: closedObject({ detail: text, request_id: text }),
  Fault: closedObject({
    loc: {
      type: 'array',
      items: text,
      minItems: 1,
      example: ['body', 'nets', '3', 'prefix_len'],
    },
    msg: { type: 'string', example: 'Must be an integer from 10 to 32' },
    type: { type: 'string', enum: FAULT_TYPES },
  }),
  Faults: closedObject({
    detail: {
      type: 'array',
      items: { $ref: '#/components/schemas/Fault' },
      minItems: 1,
      maxItems: MAX_FAULTS,
    },
  }),
};

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
    ...(method === 'GET' ? [] : (['commitUnknown'] as const)),
    ...(hasBody ? ENDPOINTS_WITH_BODY : []),
    ...errors.map((status): ErrorCode => (status === 404 ? 'notFound' : 'conflict')),
  ];
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status);
  const refusals = Array.from(
    byStatus,
    ([status, some]) => [status, refusal(status, some)] as const,
  );
  const mayHaveFaults = path !== undefined || query !== undefined || hasBody;
  return {
    ...(Object.fromEntries(refusals) as Record<string, object>),
    ...(mayHaveFaults && {
      422: answer('The request is not valid; each fault has its location', 'Faults'),
    }),
  };
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
