import type { Endpoint } from '../routing/endpoint.js';
import type { DtoClass } from '../validation/dto.js';
import { type Fault, prefixFaults, throwIfFaults } from '../validation/fault.js';
import { read, readList, type ReadResult } from '../validation/reader.js';
import { UNDECODABLE } from './repair-url.js';

/** The body of a request: absent, not JSON, too large to be parsed, a parsed value, or a stream to be read. */
export type SentBody =
  | { readonly state: 'absent' }
  | { readonly state: 'invalid' }
  | { readonly state: 'tooLarge' }
  | { readonly state: 'json'; readonly value: unknown }
  | { readonly state: 'streamed'; readonly bytes: AsyncIterable<Uint8Array> };

/**
 * Reads the path and the body of a request together, so that all faults are reported at once.
 * @param params of Express, decoded.
 * @throws InvalidRequestError with the faults of both.
 */
export function readRequest(
  endpoint: Endpoint,
  params: Readonly<Record<string, string>>,
  sent: SentBody,
): { readonly path: unknown; readonly body: unknown } {
  const path = readPath(endpoint, params);
  const body = readBody(endpoint, sent);
  const faults = [...prefixFaults(['path'], path.faults), ...prefixFaults(['body'], body.faults)];
  for (const [name, field] of Object.entries(endpoint.repeats ?? {})) {
    faults.push(...mismatch(path, name, body, field));
  }
  throwIfFaults(faults);
  return { path: path.value, body: body.value };
}

function readPath(
  { path }: Endpoint,
  params: Readonly<Record<string, string>>,
): ReadResult<object> {
  if (path === undefined) return { value: {}, faults: [] };
  const broken = Object.keys(params).filter((name) => params[name] === UNDECODABLE);
  const reading = read(path, { ...params });
  const others = reading.faults.filter((fault) => !broken.includes(fault.loc[0] ?? ''));
  const msg = 'Invalid percent-encoding';
  return {
    value: reading.value,
    faults: [
      ...broken.map((name): Fault => ({ loc: [name], msg, type: 'value_error' })),
      ...others,
    ],
  };
}

const TOO_LARGE: Fault = {
  loc: [],
  msg: 'Too many values, or too many fields in one object, or nested too deeply',
  type: 'too_long',
};

function readBody({ body, streamed }: Endpoint, sent: SentBody): ReadResult<unknown> {
  if (body === undefined && !streamed) return { value: undefined, faults: [] };
  const faulty = (fault: Fault): ReadResult<unknown> => ({ value: undefined, faults: [fault] });
  switch (sent.state) {
    case 'streamed':
      return { value: sent.bytes, faults: [] };
    case 'absent':
      return faulty({ loc: [], msg: 'A body is required', type: 'missing' });
    case 'invalid':
      return faulty({ loc: [], msg: 'Not JSON', type: 'json_invalid' });
    case 'tooLarge':
      return faulty(TOO_LARGE);
    case 'json':
      return Array.isArray(body)
        ? readList((body as readonly [DtoClass])[0], sent.value)
        : read(body as DtoClass, sent.value);
  }
}

function mismatch(
  path: ReadResult<object>,
  name: string,
  body: ReadResult<unknown>,
  field: readonly string[],
): Fault[] {
  const faulty =
    path.faults.some((fault) => fault.loc[0] === name) ||
    body.faults.some((fault) => fault.loc.every((step, i) => step === field[i]));
  const sent = valueAt(body.value, field);
  if (faulty || sent === undefined || sent === valueAt(path.value, [name])) return [];
  return [
    { loc: ['body', ...field], msg: 'Must be equal to the path parameter', type: 'value_error' },
  ];
}

function valueAt(value: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>(
    (inner, step) =>
      typeof inner === 'object' && inner !== null
        ? (inner as Record<string, unknown>)[step]
        : undefined,
    value,
  );
}
