import type { Endpoint } from '../routing/endpoint.js';
import type { Request } from '../routing/http.js';
import type { DtoClass } from '../validation/dto.js';
import { type Fault, prefixFaults, throwIfFaults } from '../validation/fault.js';
import { read, readList, type ReadResult } from '../validation/reader.js';
import { UNDECODABLE } from './begin-request.js';

/** The body of a request: absent, not JSON, too large to be parsed, a parsed value, or a stream to be read. */
export type SentBody =
  | { readonly state: 'absent' }
  | { readonly state: 'invalid' }
  | { readonly state: 'tooLarge' }
  | { readonly state: 'json'; readonly value: unknown }
  | { readonly state: 'streamed'; readonly bytes: AsyncIterable<Uint8Array> };

/**
 * Reads the path, the query and the body of a request together, so that all faults are reported at once.
 * @param params of Express, decoded.
 * @param search the query as sent, without the question mark.
 * @throws InvalidRequestError with the faults of all three.
 */
export function readRequest(
  endpoint: Endpoint,
  params: Readonly<Record<string, string>>,
  search: string,
  sent: SentBody,
): { readonly path: unknown; readonly query: unknown; readonly body: unknown } {
  const path = readPath(endpoint, params);
  const query = readQuery(endpoint, search);
  const body = readBody(endpoint, sent);
  const faults = [
    ...prefixFaults(['path'], path.faults),
    ...prefixFaults(['query'], query.faults),
    ...prefixFaults(['body'], body.faults),
  ];
  for (const [name, field] of Object.entries(endpoint.repeats ?? {})) {
    faults.push(...mismatch(path, name, body, field));
  }
  throwIfFaults(faults);
  return { path: path.value, query: query.value, body: body.value };
}

const NOTHING: ReadResult<object> = { value: {}, faults: [] };

function readPath(
  { path }: Endpoint,
  params: Readonly<Record<string, string>>,
): ReadResult<object> {
  if (path === undefined) return NOTHING;
  const broken = Object.keys(params).filter((name) => params[name] === UNDECODABLE);
  return readTexts(path, { ...params }, broken.map(undecodable));
}

function readQuery({ query }: Endpoint, search: string): ReadResult<object> {
  if (query === undefined) return NOTHING;
  const { values, broken } = parseQuery(search);
  return readTexts(query, Object.fromEntries(values), broken);
}

/** @returns the parameters by name, and what is wrong with others. */
function parseQuery(search: string): { values: ReadonlyMap<string, string>; broken: Fault[] } {
  const values = new Map<string, string>();
  const broken: Fault[] = [];
  for (const pair of search.split('&').filter((one) => one !== '')) {
    const [name, value] = pair.split(/=(.*)/s, 2).concat('').map(decode);
    if (name === null || value === null) broken.push(undecodable(name ?? ''));
    else if (values.has(name)) {
      broken.push({ loc: [name], msg: 'Must be given only once', type: 'duplicate' });
    } else values.set(name, value);
  }
  return { values, broken };
}

/** Whether a request, if it has no fault, is a dry run. */
export function isDryRun({ dryRun }: Endpoint, request: Pick<Request, 'url'>): boolean {
  return dryRun !== undefined && parseQuery(searchOf(request)).values.get('dry_run') === 'true';
}

/** The query as sent, without the question mark. */
export function searchOf({ url }: Pick<Request, 'url'>): string {
  return url.split(/\?(.*)/s)[1] ?? '';
}

/** `+` stands for itself, as in any other place of a URL: a time may end with `+01:00`. @returns null: not possible. */
function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function undecodable(name: string): Fault {
  return { loc: [name], msg: 'Invalid percent-encoding', type: 'value_error' };
}

/** @param broken faults of some texts, of which no other fault is reported. */
function readTexts(
  type: DtoClass,
  texts: Readonly<Record<string, string>>,
  broken: readonly Fault[],
): ReadResult<object> {
  const { value, faults } = read(type, texts);
  const names = new Set(broken.map(({ loc }) => loc[0]));
  return { value, faults: [...broken, ...faults.filter(({ loc }) => !names.has(loc[0]))] };
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
