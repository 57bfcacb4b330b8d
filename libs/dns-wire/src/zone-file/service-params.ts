import { bytesOfText } from './text.js';
import { ipv4Bytes, ipv6Bytes, numberBytes } from './fields.js';
import { ZoneFileError } from './zone-file-error.js';

/** Names of SvcParamKeys, by number (RFC 9460 §14.3.2, RFC 9461 §5, RFC 9540 §4). */
const KEYS = [
  'mandatory',
  'alpn',
  'no-default-alpn',
  'port',
  'ipv4hint',
  'ech',
  'ipv6hint',
  'dohpath',
  'ohttp',
];
const MANDATORY = 0;
const ALPN = 1;
const NO_DEFAULT_ALPN = 2;
const OTHER_KEY = /^key(0|[1-9]\d{0,4})$/;
const LAST_KEY = 65_534;

const COMMA = 0x2c;
const BACKSLASH = 0x5c;

/** The SvcParams of an SVCB or HTTPS record in wire format, from words like `alpn=h2,h3` (RFC 9460 §2.1). */
export function serviceParams(words: readonly string[]): Uint8Array {
  const params = new Map<number, Uint8Array>();
  for (const word of words) {
    const [name] = word.split('=', 1);
    const key = keyOf(name);
    if (params.has(key)) throw new ZoneFileError(`${name} is given twice`);
    params.set(key, valueOf(key, word.length === name.length ? null : word.slice(name.length + 1)));
  }
  checkMandatory(params);
  if (params.has(NO_DEFAULT_ALPN) && !params.has(ALPN)) {
    throw new ZoneFileError('no-default-alpn needs alpn');
  }
  const ascending = [...params].sort(([a], [b]) => a - b);
  return Buffer.concat(
    ascending.flatMap(([key, value]) => [uint16(key), uint16(value.length), value]),
  );
}

function keyOf(name: string): number {
  const known = KEYS.indexOf(name);
  if (known >= 0) return known;
  const number = Number(OTHER_KEY.exec(name)?.[1] ?? NaN);
  if (!(number <= LAST_KEY)) throw new ZoneFileError(`"${name}" is not a SvcParamKey`);
  return number;
}

/** @param text null: without a value */
function valueOf(key: number, text: string | null): Uint8Array {
  const isFlag = KEYS[key] === 'no-default-alpn' || KEYS[key] === 'ohttp';
  const value = text === null ? '' : unquoted(text);
  if (isFlag !== (value === '') && key < KEYS.length) {
    throw new ZoneFileError(`${KEYS[key]} ${isFlag ? 'has no value' : 'needs a value'}`);
  }
  const list = (): string[] => listOf(value).map((item) => Buffer.from(item).toString('latin1'));
  switch (KEYS[key]) {
    case 'mandatory':
      return Buffer.concat(
        list()
          .map(keyOf)
          .sort((a, b) => a - b)
          .map(uint16),
      );
    case 'alpn':
      return Buffer.concat(listOf(value).map(protocolId));
    case 'port':
      return numberBytes(value, 2);
    case 'ipv4hint':
      return Buffer.concat(list().map(ipv4Bytes));
    case 'ipv6hint':
      return Buffer.concat(list().map(ipv6Bytes));
    case 'ech':
      return base64(value);
    default:
      return bytesOfText(value);
  }
}

function protocolId(id: Uint8Array): Uint8Array {
  if (id.length === 0 || id.length > 255)
    throw new ZoneFileError('alpn has an id of no usable length');
  return Uint8Array.of(id.length, ...id);
}

function base64(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw new ZoneFileError('ech is not base64');
  return bytes;
}

function unquoted(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1) : text;
}

/** Items separated by commas; `\` before a comma or another `\` makes it a part of an item (RFC 9460 §A.1). */
function listOf(text: string): Uint8Array[] {
  const items: number[][] = [[]];
  const bytes = bytesOfText(text);
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] === COMMA) items.push([]);
    else {
      if (bytes[i] === BACKSLASH) i++;
      if (i >= bytes.length) throw new ZoneFileError('a list ends with an escape');
      items.at(-1)?.push(bytes[i]);
    }
  }
  return items.map((item) => Uint8Array.from(item));
}

/** The keys that `mandatory` lists must be there, once each (RFC 9460 §8). */
function checkMandatory(params: ReadonlyMap<number, Uint8Array>): void {
  const list = params.get(MANDATORY);
  if (list === undefined) return;
  let before = MANDATORY;
  for (let at = 0; at < list.length; at += 2) {
    const key = (list[at] << 8) | list[at + 1];
    if (key <= before || !params.has(key)) {
      throw new ZoneFileError('mandatory lists a key twice, itself, or one that is not given');
    }
    before = key;
  }
}

function uint16(value: number): Uint8Array {
  return Uint8Array.of(value >> 8, value & 0xff);
}
