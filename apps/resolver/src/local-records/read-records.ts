import { DomainError, normaliseDomain, toWireName } from '@weir/dns-name';
import { MAX_NAME_BYTES, Type } from '@weir/dns-wire';
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from 'yaml';
import { addressRdata, faultAt, type LocalRecord, MAX_RECORDS } from '@weir/policy/answers';

const FIELDS = ['name', 'type', 'data', 'ttl'] as const;
type Field = (typeof FIELDS)[number];

/** Rdata of the types that a record may have, from the text of `data`. @throws Error that says what is wrong */
const RDATA: Readonly<Record<string, { type: number; read: (text: string) => Uint8Array }>> = {
  A: { type: Type.a, read: (text) => address(text, 4) },
  AAAA: { type: Type.aaaa, read: (text) => address(text, 16) },
  CNAME: { type: Type.cname, read: wireName },
  PTR: { type: Type.ptr, read: wireName },
  TXT: { type: Type.txt, read: characterStrings },
};

const DEFAULT_TTL_SECONDS = 3600;
/** RFC 2181 §8. */
const MAX_TTL_SECONDS = 2 ** 31 - 1;
/** The longest character string (RFC 1035 §3.3). */
const MAX_STRING_BYTES = 255;
const WILDCARD = '*.';

/** Reads the file of `LOCAL_RECORDS`: a YAML list of records. @throws Error that names the line and the field */
export function readRecords(text: string): LocalRecord[] {
  const lines = new LineCounter();
  const { contents, errors } = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  if (errors.length > 0) throw faultAt(lineAt(errors[0].pos[0]), errors[0].message);
  if (contents === null) return [];
  if (!isSeq<Node>(contents)) throw faultAt(1, 'the file must be a list of records');
  if (contents.items.length > MAX_RECORDS) {
    throw faultAt(lineAt(startOf(contents.items[MAX_RECORDS])), `more than ${MAX_RECORDS} records`);
  }
  return contents.items.map((item) => new RecordReader(item, lineAt).read());
}

class RecordReader {
  private readonly line: number;
  private readonly fields = new Map<Field, { readonly value: unknown; readonly line: number }>();

  constructor(item: Node, lineAt: (offset: number) => number) {
    this.line = lineAt(startOf(item));
    if (!isMap(item)) throw faultAt(this.line, 'a record must have name, type and data');
    for (const { key, value } of (item as YAMLMap<Node, Node | null>).items) {
      const line = lineAt(startOf(key));
      const field = FIELDS.find((one) => isScalar(key) && key.value === one);
      if (field === undefined) throw faultAt(line, `a record may have only ${FIELDS.join(', ')}`);
      this.fields.set(field, { value: isScalar(value) ? value.value : undefined, line });
    }
  }

  read(): LocalRecord {
    const owner = this.text('name', ownerName);
    const { type, read } = this.text('type', (name) => {
      if (!Object.hasOwn(RDATA, name)) throw new Error(`must be ${Object.keys(RDATA).join(', ')}`);
      return RDATA[name];
    });
    const rdata = this.text('data', read);
    return { line: this.line, owner, type, ttlSeconds: this.ttlSeconds(), rdata };
  }

  private text<T>(field: Field, parse: (text: string) => T): T {
    const given = this.fields.get(field);
    if (given === undefined) throw faultAt(this.line, `${field} is missing`);
    const { value, line } = given;
    if (typeof value !== 'string') throw faultAt(line, `${field} must be a text in quotes`);
    try {
      return parse(value);
    } catch (error) {
      throw faultAt(line, `${field} ${(error as Error).message}`);
    }
  }

  private ttlSeconds(): number {
    const { value, line } = this.fields.get('ttl') ?? { value: DEFAULT_TTL_SECONDS, line: 0 };
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0) {
      if (value <= MAX_TTL_SECONDS) return value;
    }
    throw faultAt(line, `ttl must be a number of seconds, 0 to ${MAX_TTL_SECONDS}`);
  }
}

/** A wire name; its first label may be `*`. */
function ownerName(text: string): Uint8Array {
  if (!text.startsWith(WILDCARD)) return wireName(text);
  const name = Uint8Array.of(1, 0x2a, ...wireName(text.slice(WILDCARD.length)));
  if (name.length > MAX_NAME_BYTES) throw new DomainError('is too long');
  return name;
}

function wireName(text: string): Uint8Array {
  return toWireName(normaliseDomain(text));
}

function address(text: string, bytes: 4 | 16): Uint8Array {
  const rdata = text.includes('%') ? null : addressRdata(text);
  if (rdata?.length !== bytes) throw new Error(`must be an IPv${bytes === 4 ? 4 : 6} address`);
  return rdata;
}

/** UTF-8, cut into character strings where it is longer than one. */
function characterStrings(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  const strings: Uint8Array[] = [];
  for (let at = 0; at < bytes.length || at === 0; at += MAX_STRING_BYTES) {
    const string = bytes.subarray(at, at + MAX_STRING_BYTES);
    strings.push(Uint8Array.of(string.length), string);
  }
  return Uint8Array.from(Buffer.concat(strings));
}

function startOf(node: Node): number {
  return node.range?.[0] ?? 0;
}
