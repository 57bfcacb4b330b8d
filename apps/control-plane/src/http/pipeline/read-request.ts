import type { Endpoint } from '../routing/endpoint.js';
import type { Request } from '../routing/http.js';
import type { DtoClass } from '../validation/dto.js';
import { type Fault, prefixFaults, throwIfFaults } from '../validation/fault.js';
import { read, readList, type ReadResult } from '../validation/reader.js';
import { decode, UNDECODABLE } from './begin-request.js';
import type { SentBody } from './parse-body.js';

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

function readBody({ body, streamed }: Endpoint, sent: SentBody): ReadResult<unknown> {
  if (body === undefined && streamed === undefined) return { value: undefined, faults: [] };
  if ('fault' in sent) return { value: undefined, faults: [sent.fault] };
  if (body === undefined) return { value: sent.value, faults: [] };
  return Array.isArray(body)
    ? readList((body as readonly [DtoClass])[0], sent.value)
    : read(body as DtoClass, sent.value);
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
