import { readUint16, readUint32 } from './bytes.js';
import { areOptionsValid, findOption, readEde } from './edns.js';
import { BAD_NAME, equalsIgnoringCase, skipName, skipUncompressedName } from './names.js';
import {
  ANCOUNT_OFFSET,
  ARCOUNT_OFFSET,
  Ede,
  Flag,
  FLAGS_OFFSET,
  HEADER_BYTES,
  MAX_MESSAGE_BYTES,
  NSCOUNT_OFFSET,
  OPTION_COOKIE,
  QDCOUNT_OFFSET,
  QUESTION_FIXED_BYTES,
  Rcode,
  RECORD_FIXED_BYTES,
  Type,
} from './protocol.js';
import type { Query } from './query.js';

/** Maximum number of records in the largest message: root name and no rdata each. */
export const MAX_RECORDS = Math.floor(
  (MAX_MESSAGE_BYTES - HEADER_BYTES) / (1 + RECORD_FIXED_BYTES),
);

/**
 * One parsed response of an upstream resolver; reused. Refers to the bytes until the next `parseResponse`, and never
 * changes them.
 */
export class Response {
  bytes: Uint8Array = new Uint8Array(0);
  id = 0;
  flags = 0;
  /** Includes the upper bits from the OPT record (RFC 6891 §6.1.3). */
  rcode = 0;
  /** Offset after the question, where the records start. */
  questionEnd = HEADER_BYTES;
  answerCount = 0;
  authorityCount = 0;
  /** Additional records before the OPT record, or all of them without one. */
  additionalCount = 0;
  /** Offset after the last of those records. */
  recordsEnd = HEADER_BYTES;
  /** Offsets of the TTLs of those records: answer, authority, additional. Only the first `ttlCount` are valid. */
  readonly ttlOffsets = new Uint16Array(MAX_RECORDS);
  ttlCount = 0;
  /** INFO-CODE of the first Extended DNS Error, or `Ede.none`. */
  ede: number = Ede.none;
  hasEdns = false;
  /** Offset of the cookies in the OPT record, after the length of the option; 0 without any. */
  cookieAt = 0;

  get isTruncated(): boolean {
    return (this.flags & Flag.tc) !== 0;
  }
}

/**
 * Parses a response to one question and checks that every record lies within `length`. Additional records after OPT are
 * ignored: they are optional, and would have to be moved.
 * @returns false when the response is malformed; `out` is then undefined
 */
export function parseResponse(bytes: Uint8Array, length: number, out: Response): boolean {
  if (!parseQuestion(bytes, length, out)) return false;
  out.answerCount = readUint16(bytes, ANCOUNT_OFFSET);
  out.authorityCount = readUint16(bytes, NSCOUNT_OFFSET);
  const additional = readLeading(bytes, length, out);
  return additional !== BAD_RECORD && readAdditional(bytes, length, additional, out);
}

/**
 * Parses a truncated response without its records: it may end within one (RFC 2181 §9).
 * @returns false when it is malformed, or not truncated; `out` is then undefined
 */
export function parseTruncated(bytes: Uint8Array, length: number, out: Response): boolean {
  return parseQuestion(bytes, length, out) && out.isTruncated;
}

/** Parses header and question. Afterwards `out` has no records. */
function parseQuestion(bytes: Uint8Array, length: number, out: Response): boolean {
  if (length < HEADER_BYTES || readUint16(bytes, QDCOUNT_OFFSET) !== 1) return false;
  const flags = readUint16(bytes, FLAGS_OFFSET);
  if (!isReply(flags)) return false;
  const nameEnd = skipUncompressedName(bytes, length, HEADER_BYTES);
  if (nameEnd === BAD_NAME || nameEnd + QUESTION_FIXED_BYTES > length) return false;
  out.bytes = bytes;
  out.id = readUint16(bytes, 0);
  out.flags = flags;
  out.rcode = flags & Flag.rcode;
  out.questionEnd = nameEnd + QUESTION_FIXED_BYTES;
  clearRecords(out);
  return true;
}

function clearRecords(out: Response): void {
  out.answerCount = 0;
  out.authorityCount = 0;
  out.additionalCount = 0;
  out.recordsEnd = out.questionEnd;
  out.ttlCount = 0;
  out.ede = Ede.none;
  out.hasEdns = false;
  out.cookieAt = 0;
}

/**
 * Makes `out` a response without records to a query, as if an upstream had sent it. It refers to the bytes of the query
 * for the question; header fields are those of `out` only.
 * @param rcode below 16
 * @param ede an INFO-CODE or `Ede.none`
 */
export function setEmptyResponse(
  out: Response,
  bytes: Uint8Array,
  query: Query,
  rcode: number,
  ede: number,
): void {
  out.bytes = bytes;
  out.id = query.id;
  out.flags = Flag.qr | Flag.rd | Flag.ra | rcode;
  out.rcode = rcode;
  out.questionEnd = query.questionEnd;
  clearRecords(out);
  out.ede = ede;
}

/** Whether the response is to that question: same name (ignoring case, RFC 4343), type and class. */
export function answersQuestion(response: Response, bytes: Uint8Array, query: Query): boolean {
  const fixed = query.questionEnd - QUESTION_FIXED_BYTES;
  return (
    response.questionEnd === query.questionEnd &&
    readUint32(response.bytes, fixed) === readUint32(bytes, fixed) &&
    equalsIgnoringCase(response.bytes, HEADER_BYTES, bytes, HEADER_BYTES, fixed - HEADER_BYTES)
  );
}

/** A record, or its name, that runs past the end of the message. */
const BAD_RECORD = -1;

/** @returns the offset of the type of the record at `offset`, or `BAD_RECORD` */
function skipOwner(bytes: Uint8Array, length: number, offset: number): number {
  const fixed = skipName(bytes, length, offset);
  return fixed === BAD_NAME || fixed + RECORD_FIXED_BYTES > length ? BAD_RECORD : fixed;
}

/** @returns the offset after the record whose type is at `fixed`; it may lie beyond the message */
export function endOfRecord(bytes: Uint8Array, fixed: number): number {
  return fixed + RECORD_FIXED_BYTES + readUint16(bytes, fixed + 8);
}

/** Offset of the TTL from that of the type. */
export const TTL_OFFSET = 4;

/** @returns the offset of the type of the record with that index in the whole response */
export function fixedPartOf({ ttlOffsets }: Response, index: number): number {
  return ttlOffsets[index] - TTL_OFFSET;
}

export function typeOfRecord(response: Response, index: number): number {
  return readUint16(response.bytes, fixedPartOf(response, index));
}

/** @returns the offset after the first `count` records */
export function endOfRecords(response: Response, count: number): number {
  if (count === 0) return response.questionEnd;
  return endOfRecord(response.bytes, fixedPartOf(response, count - 1));
}

/** Takes the additional records away, which no answer needs. */
export function removeAdditional(response: Response): void {
  const count = response.answerCount + response.authorityCount;
  response.recordsEnd = endOfRecords(response, count);
  response.additionalCount = 0;
  response.ttlCount = count;
}

/** Parses answer and authority records. @returns the offset after them, or `BAD_RECORD` */
function readLeading(bytes: Uint8Array, length: number, out: Response): number {
  let at = out.questionEnd;
  for (let left = out.answerCount + out.authorityCount; left > 0; left--) {
    const fixed = skipOwner(bytes, length, at);
    if (fixed === BAD_RECORD || readUint16(bytes, fixed) === Type.opt) return BAD_RECORD;
    at = endOfRecord(bytes, fixed);
    if (at > length) return BAD_RECORD;
    out.ttlOffsets[out.ttlCount++] = fixed + TTL_OFFSET;
  }
  return at;
}

function readAdditional(bytes: Uint8Array, length: number, offset: number, out: Response): boolean {
  const total = readUint16(bytes, ARCOUNT_OFFSET);
  out.hasEdns = false;
  out.additionalCount = total;
  out.recordsEnd = offset;
  let at = offset;
  for (let i = 0; i < total; i++) {
    const fixed = skipOwner(bytes, length, at);
    if (fixed === BAD_RECORD) return false;
    const end = endOfRecord(bytes, fixed);
    if (end > length) return false;
    if (readUint16(bytes, fixed) === Type.opt) {
      const rdata = fixed + RECORD_FIXED_BYTES;
      if (out.hasEdns || fixed !== at + 1 || !areOptionsValid(bytes, rdata, end)) return false;
      out.hasEdns = true;
      out.additionalCount = i;
      out.rcode |= bytes[fixed + 4] << 4;
      out.ede = readEde(bytes, rdata, end);
      out.cookieAt = findOption(bytes, rdata, end, OPTION_COOKIE);
    }
    at = end;
    if (out.hasEdns) continue;
    out.recordsEnd = at;
    out.ttlOffsets[out.ttlCount++] = fixed + TTL_OFFSET;
  }
  return true;
}

/** Whether these are the flags of a reply to a query (opcode 0). */
function isReply(flags: number): boolean {
  return (flags & (Flag.qr | Flag.opcode)) === Flag.qr;
}

/** Whether the server may have failed at EDNS (RFC 6891 §7). */
export function isNotUnderstood(rcode: number): boolean {
  return rcode === Rcode.formErr || rcode === Rcode.notImp;
}

/** What `headerErrorOf` returns when the packet is something else. */
export const NO_HEADER_ERROR = -1;

/**
 * The RCODE of a reply that is only a header with FORMERR, SERVFAIL, NOTIMP or REFUSED. A server that has not
 * understood the query, such as one that does not know EDNS, does not repeat the question (RFC 6891 §7).
 */
export function headerErrorOf(bytes: Uint8Array, length: number): number {
  if (length !== HEADER_BYTES) return NO_HEADER_ERROR;
  const flags = readUint16(bytes, FLAGS_OFFSET);
  const records =
    readUint16(bytes, QDCOUNT_OFFSET) |
    readUint16(bytes, ANCOUNT_OFFSET) |
    readUint16(bytes, NSCOUNT_OFFSET) |
    readUint16(bytes, ARCOUNT_OFFSET);
  const rcode = flags & Flag.rcode;
  const isError = isNotUnderstood(rcode) || rcode === Rcode.servFail || rcode === Rcode.refused;
  return isReply(flags) && records === 0 && isError ? rcode : NO_HEADER_ERROR;
}
