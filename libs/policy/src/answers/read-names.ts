import { MAX_NEGATIVE_TTL_SECONDS, Type } from '@weir/dns-wire';
import { type LocalName, faultAt, type LocalRecord } from './local-name.js';

/** A name of the file, with the line of its first record. */
export interface NameOfFile {
  readonly line: number;
  readonly owner: Uint8Array;
  readonly name: LocalName;
}

/** More than this would not fit a message together with other records. */
const MAX_SET_BYTES = 60_000;
/** Longest owner, and the fixed part of a record. */
const MAX_HEAD_BYTES = 255 + 10;

/** Groups records by owner and type. @throws Error when they cannot be together */
export function readNames(records: readonly LocalRecord[]): NameOfFile[] {
  const byOwner = Map.groupBy(records, ({ owner }) => hexOf(owner));
  return [...byOwner.values()].map(readName);
}

function readName(records: readonly LocalRecord[]): NameOfFile {
  const [{ line, owner }] = records;
  const sets = [...Map.groupBy(records, ({ type }) => type).values()].map(readSet);
  const cname = records.find(({ type }) => type === Type.cname);
  if (cname !== undefined && sets.length > 1) {
    throw faultAt(cname.line, 'a name with a CNAME record cannot have other records');
  }
  const ttls = sets.map(({ ttlSeconds }) => ttlSeconds);
  const negativeTtlSeconds = Math.min(MAX_NEGATIVE_TTL_SECONDS, ...ttls);
  return { line, owner, name: { sets, negativeTtlSeconds, rewrite: null } };
}

/** A record that is there twice counts once, and the lowest TTL holds for all (RFC 2181 §5). */
function readSet(records: readonly LocalRecord[]): LocalName['sets'][number] {
  const [{ line, type }] = records;
  const distinct = new Map(records.map(({ rdata }) => [hexOf(rdata), rdata]));
  const rdatas = [...distinct.values()];
  if (type === Type.cname && rdatas.length > 1) {
    throw faultAt(records[1].line, 'a name cannot have two CNAME records');
  }
  const bytes = rdatas.reduce((sum, { length }) => sum + MAX_HEAD_BYTES + length, 0);
  if (bytes > MAX_SET_BYTES) throw faultAt(line, 'the records of one type do not fit one answer');
  return { type, ttlSeconds: Math.min(...records.map((record) => record.ttlSeconds)), rdatas };
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** Whether the first label is `*`. */
export function isWildcard(owner: Uint8Array): boolean {
  return owner[0] === 1 && owner[1] === 0x2a;
}
