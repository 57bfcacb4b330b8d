import { FIRST_META_TYPE, LAST_META_TYPE, Type } from '../protocol.js';
import type { Fields } from './fields.js';
import { serviceParams } from './service-params.js';
import { ZoneFileError } from './zone-file-error.js';

/** A type of records, and how its rdata is written. */
interface RecordType {
  readonly number: number;
  readonly read: (fields: Fields) => readonly Uint8Array[];
}

const service = (fields: Fields): Uint8Array[] => {
  const head = [fields.number(2), fields.name()];
  const words: string[] = [];
  while (!fields.isAtEnd) words.push(fields.word('a parameter'));
  return [...head, serviceParams(words)];
};

const RECORD_TYPES: Readonly<Record<string, RecordType>> = {
  A: { number: Type.a, read: (fields) => [fields.ipv4()] },
  NS: { number: Type.ns, read: (fields) => [fields.name()] },
  CNAME: { number: Type.cname, read: (fields) => [fields.name()] },
  SOA: {
    number: Type.soa,
    read: (fields) => [
      fields.name(),
      fields.name(),
      fields.number(4),
      ...[0, 1, 2, 3].map(() => fields.seconds()),
    ],
  },
  PTR: { number: Type.ptr, read: (fields) => [fields.name()] },
  MX: { number: Type.mx, read: (fields) => [fields.number(2), fields.name()] },
  TXT: {
    number: Type.txt,
    read: (fields) => {
      const strings = [fields.string()];
      while (!fields.isAtEnd) strings.push(fields.string());
      return strings;
    },
  },
  AAAA: { number: Type.aaaa, read: (fields) => [fields.ipv6()] },
  SRV: {
    number: Type.srv,
    read: (fields) => [fields.number(2), fields.number(2), fields.number(2), fields.name()],
  },
  NAPTR: {
    number: Type.naptr,
    read: (fields) => [
      fields.number(2),
      fields.number(2),
      ...[0, 1, 2].map(() => fields.string()),
      fields.name(),
    ],
  },
  SVCB: { number: Type.svcb, read: service },
  HTTPS: { number: Type.https, read: service },
  CAA: { number: Type.caa, read: (fields) => [fields.number(1), tag(fields), fields.bytes()] },
};

/** The tag of a CAA property (RFC 8659 §4.1). */
function tag(fields: Fields): Uint8Array {
  const bytes = fields.string();
  const text = Buffer.from(bytes.subarray(1)).toString('latin1');
  if (!/^[a-z0-9]+$/i.test(text)) throw new ZoneFileError(`"${text}" is not a CAA tag`);
  return bytes;
}

const GENERIC = /^TYPE(\d{1,5})$/;
const MAX_TYPE = 65_535;
const MAX_RDATA_BYTES = 65_535;

/** Reads type and rdata of a record. @returns the number of the type, and the rdata in wire format */
export function readTypeAndRdata(
  typeName: string,
  fields: Fields,
): { type: number; rdata: Uint8Array } {
  const name = typeName.toUpperCase();
  const known = Object.hasOwn(RECORD_TYPES, name) ? RECORD_TYPES[name] : null;
  const type = known?.number ?? genericType(name);
  const rdata = Buffer.concat(known === null ? [genericRdata(fields)] : known.read(fields));
  if (!fields.isAtEnd) throw new ZoneFileError('there is more than the record needs');
  if (rdata.length > MAX_RDATA_BYTES) throw new ZoneFileError('the record is too large');
  return { type, rdata: Uint8Array.from(rdata) };
}

function genericType(name: string): number {
  const digits = GENERIC.exec(name)?.[1];
  if (digits === undefined) {
    throw new ZoneFileError(`type ${name} is not known here; write it as TYPE<number> (RFC 3597)`);
  }
  const type = Number(digits);
  const isMeta = type === 0 || type === Type.opt || isQuestionType(type);
  if (isMeta || type > MAX_TYPE) throw new ZoneFileError(`${name} is not a type of records`);
  const known = Object.entries(RECORD_TYPES).find(([, { number }]) => number === type);
  if (known !== undefined) throw new ZoneFileError(`write ${name} as ${known[0]}`);
  return type;
}

function isQuestionType(type: number): boolean {
  return type >= FIRST_META_TYPE && type <= LAST_META_TYPE;
}

/** `\# length hex` (RFC 3597 §5). */
function genericRdata(fields: Fields): Uint8Array {
  const isGeneric = fields.word('\\#') === '\\#';
  const length = isGeneric ? Number(fields.word('the length')) : NaN;
  const hex = fields.rest();
  if (!isGeneric || !/^[0-9a-f]*$/i.test(hex) || hex.length !== 2 * length) {
    throw new ZoneFileError('the rdata is not \\#, its length in bytes, and as many bytes in hex');
  }
  return Buffer.from(hex, 'hex');
}
