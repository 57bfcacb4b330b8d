import { TLS_PEER_PATTERN } from './endpoint.js';
import type { ValueSchema } from './variable.js';

const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const IPV4_PATTERN = `${OCTET}(?:\\.${OCTET}){3}`;
/** Matches the characters of an IPv6 address only. The process checks whether it is one. */
const IPV6_PATTERN = '[0-9a-fA-F.]*:[0-9a-fA-F.]*:[0-9a-fA-F:.]*';
const ANY_ADDRESS = `(?:${IPV4_PATTERN}|${IPV6_PATTERN})`;

function matching(pattern: string): ValueSchema {
  return { type: 'string', pattern: `^${pattern}$` };
}

export const TEXT: ValueSchema = { type: 'string', minLength: 1 };
export const BOOLEAN: ValueSchema = { type: 'boolean' };
export const IPV4 = matching(IPV4_PATTERN);
export const IPV6 = matching(IPV6_PATTERN);
export const ADDRESS = matching(ANY_ADDRESS);
export const NETWORK = matching(`${ANY_ADDRESS}(?:/[0-9]{1,3})?`);
const PORT = ':[0-9]{1,5}';
const PLACE = `(?:${ANY_ADDRESS}|\\[${IPV6_PATTERN}\\](?:${PORT})?|${IPV4_PATTERN}${PORT})`;
export const UPSTREAM = matching(`(?:${PLACE}|tls://${PLACE}#${TLS_PEER_PATTERN})`);
export const TIME_ZONE = matching('[A-Za-z][A-Za-z0-9_+/-]*');
export const BYTE_SIZE: ValueSchema = {
  type: ['integer', 'string'],
  minimum: 0,
  pattern: '^[0-9]{1,12}(?:[kKmMgG]?[bB])?$',
};

export function integer(lowest: number, highest: number): ValueSchema {
  return { type: 'integer', minimum: lowest, maximum: highest };
}

export function decimal(lowest: number, highest: number): ValueSchema {
  return { type: 'number', minimum: lowest, maximum: highest };
}

export function secret(shortest: number): ValueSchema {
  return { ...matching('\\S+'), minLength: shortest };
}

/** A secret in a comma-separated list, so without a comma. */
export function listedSecret(shortest: number): ValueSchema {
  return { ...matching('[^\\s,]+'), minLength: shortest };
}

export function hex(bytes: number): ValueSchema {
  return matching(`[0-9a-fA-F]{${bytes * 2}}`);
}

export function url(protocols: readonly string[]): ValueSchema {
  return matching(`(?:${protocols.join('|')})://\\S+`);
}

/** A list that is comma-separated in the text, of at most `most` items if that is given. */
export function listOf(items: ValueSchema, most?: number): ValueSchema {
  return { type: 'array', items, minItems: 1, ...(most !== undefined && { maxItems: most }) };
}
