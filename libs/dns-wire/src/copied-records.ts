import { copyBytes, equalsAt, readUint16, writeUint16 } from './bytes.js';
import { BAD_NAME, expandName, skipName } from './names.js';
import {
  HEADER_BYTES,
  LABEL_TYPE_MASK,
  MAX_MESSAGE_BYTES,
  MAX_NAME_BYTES,
  NAME_POINTER,
  POINTER_MASK,
  RECORD_FIXED_BYTES,
  Type,
} from './protocol.js';
import {
  endOfRecord,
  endOfRecords,
  fixedPartOf,
  MAX_RECORDS,
  Response,
  TTL_OFFSET,
} from './response.js';

/** Before its name it has three more character strings (RFC 3403 §4.1). */
const NAPTR = 35;
const STRINGS_OF_NAPTR = 3;

/**
 * Types whose rdata may have compressed names, one after another (RFC 1035 §3.3, RFC 3597 §4): type, bytes before the
 * first name, number of names.
 */
// oxfmt-ignore
const COMPRESSIBLE: readonly (readonly [type: number, before: number, names: number])[] = [
  [Type.ns, 0, 1], [3 /* MD */, 0, 1], [4 /* MF */, 0, 1], [Type.cname, 0, 1], [Type.soa, 0, 2], [7 /* MB */, 0, 1],
  [8 /* MG */, 0, 1], [9 /* MR */, 0, 1], [Type.ptr, 0, 1], [14 /* MINFO */, 0, 2], [Type.mx, 2, 1],
  [17 /* RP */, 0, 2], [18 /* AFSDB */, 2, 1], [21 /* RT */, 2, 1], [24 /* SIG */, 18, 1], [26 /* PX */, 2, 2],
  [30 /* NXT */, 0, 1], [Type.srv, 6, 1], [NAPTR, 4, 1], [36 /* KX */, 2, 1], [39 /* DNAME */, 0, 1],
];
const TYPES = 40;
const BYTES_BEFORE = new Uint8Array(TYPES);
const NAMES = new Uint8Array(TYPES);
for (const [type, before, names] of COMPRESSIBLE) {
  BYTES_BEFORE[type] = before;
  NAMES[type] = names;
}

const RDLENGTH_OFFSET = 8;
const POINTER_BYTES = 2;

/** One name at a time, and the owner before it. */
const name = new Uint8Array(MAX_NAME_BYTES);
const ownerBefore = new Uint8Array(MAX_NAME_BYTES);

/**
 * Appends a copy of a record to `to`, whose bytes have room for the largest message. The caller counts it in its
 * section. Names are written in full, because they may point to what is not copied; an owner that is that of the record
 * before, or the queried name, as a pointer to it. Allocates nothing.
 * @param index of the record in the whole of `from`
 * @returns false when a name is malformed, or the record does not fit; `to` is then undefined
 */
export function appendRecord(to: Response, from: Response, index: number): boolean {
  const { bytes } = from;
  const fixed = fixedPartOf(from, index);
  const recordEnd = endOfRecord(bytes, fixed);
  const type = readUint16(bytes, fixed);
  if (!appendOwner(to, bytes, fixed, endOfRecords(from, index))) return false;
  const fixedAt = to.recordsEnd;
  const names = type < TYPES ? NAMES[type] : 0;
  let at = names === 0 ? recordEnd : startOfNames(bytes, type, fixed, recordEnd);
  if (at > recordEnd || !append(to, bytes, fixed, at)) return false;
  for (let left = names; left > 0; left--) {
    const size = expandName(bytes, recordEnd, at, name);
    if (size === BAD_NAME || !append(to, name, 0, size)) return false;
    at = skipName(bytes, recordEnd, at);
  }
  if (!append(to, bytes, at, recordEnd)) return false;
  const rdataBytes = to.recordsEnd - fixedAt - RECORD_FIXED_BYTES;
  writeUint16(to.bytes, fixedAt + RDLENGTH_OFFSET, rdataBytes);
  to.ttlOffsets[to.ttlCount++] = fixedAt + TTL_OFFSET;
  return true;
}

/** @returns offset of the first name in the rdata; one beyond the record when there is none */
function startOfNames(bytes: Uint8Array, type: number, fixed: number, end: number): number {
  let at = fixed + RECORD_FIXED_BYTES + BYTES_BEFORE[type];
  if (type !== NAPTR) return at;
  for (let i = 0; i < STRINGS_OF_NAPTR && at < end; i++) at += bytes[at] + 1;
  return at;
}

const IPV4_BYTES = 4;
const IPV6_BYTES = 16;

/**
 * Whether the owner of each record is a valid name, and each name in its rdata that may be compressed, and whether each
 * address has its size. Clients cannot read another response. Allocates nothing.
 */
export function isReadable(response: Response): boolean {
  const { bytes, ttlCount } = response;
  let ownerAt = response.questionEnd;
  for (let i = 0; i < ttlCount; i++) {
    const fixed = fixedPartOf(response, i);
    const end = endOfRecord(bytes, fixed);
    if (expandName(bytes, fixed, ownerAt, name) === BAD_NAME) return false;
    const type = readUint16(bytes, fixed);
    const rdataBytes = end - fixed - RECORD_FIXED_BYTES;
    if (type === Type.a && rdataBytes !== IPV4_BYTES) return false;
    if (type === Type.aaaa && rdataBytes !== IPV6_BYTES) return false;
    const names = type < TYPES ? NAMES[type] : 0;
    let at = names === 0 ? end : startOfNames(bytes, type, fixed, end);
    for (let left = names; left > 0; left--) {
      if (expandName(bytes, end, at, name) === BAD_NAME) return false;
      at = skipName(bytes, end, at);
    }
    ownerAt = end;
  }
  return true;
}

function appendOwner(to: Response, bytes: Uint8Array, length: number, offset: number): boolean {
  const size = expandName(bytes, length, offset, name);
  if (size === BAD_NAME) return false;
  const beforeAt = to.ttlCount === 0 ? HEADER_BYTES : endOfRecords(to, to.ttlCount - 1);
  const isSame =
    beforeAt <= POINTER_MASK &&
    expandName(to.bytes, to.recordsEnd, beforeAt, ownerBefore) === size &&
    equalsAt(name, 0, ownerBefore, size);
  if (!isSame || size <= POINTER_BYTES) return append(to, name, 0, size);
  // The owner before may be a pointer itself.
  const isPointer = to.bytes[beforeAt] >= LABEL_TYPE_MASK;
  writeUint16(name, 0, isPointer ? readUint16(to.bytes, beforeAt) : NAME_POINTER | beforeAt);
  return append(to, name, 0, POINTER_BYTES);
}

/** @returns false when there is no room */
function append(to: Response, bytes: Uint8Array, start: number, end: number): boolean {
  const size = end - start;
  if (to.recordsEnd + size > MAX_MESSAGE_BYTES) return false;
  copyBytes(bytes, start, to.bytes, to.recordsEnd, size);
  to.recordsEnd += size;
  return true;
}

/** Copies a response without some of its records. Reused; allocates nothing. */
export class RecordRemoval {
  /** 1 for each record to leave out, by index in the whole response. */
  readonly isRemoved = new Uint8Array(MAX_RECORDS);
  private readonly response = new Response();

  constructor() {
    this.response.bytes = new Uint8Array(MAX_MESSAGE_BYTES);
  }

  /**
   * @returns the copy, valid until the next call; null when a name is malformed, or the records do not fit. The
   *   response itself is not changed.
   */
  copy(from: Response): Response | null {
    const { response: to } = this;
    const { questionEnd, answerCount, authorityCount } = from;
    copyBytes(from.bytes, 0, to.bytes, 0, questionEnd);
    to.id = from.id;
    to.flags = from.flags;
    to.rcode = from.rcode;
    to.ede = from.ede;
    to.cookieAt = 0;
    to.questionEnd = questionEnd;
    to.recordsEnd = questionEnd;
    to.ttlCount = 0;
    const additionalAt = answerCount + authorityCount;
    if (!this.copyRecords(from, 0, answerCount)) return null;
    to.answerCount = to.ttlCount;
    if (!this.copyRecords(from, answerCount, additionalAt)) return null;
    to.authorityCount = to.ttlCount - to.answerCount;
    if (!this.copyRecords(from, additionalAt, from.ttlCount)) return null;
    to.additionalCount = to.ttlCount - to.answerCount - to.authorityCount;
    return to;
  }

  private copyRecords(from: Response, first: number, end: number): boolean {
    for (let i = first; i < end; i++) {
      if (this.isRemoved[i] === 0 && !appendRecord(this.response, from, i)) return false;
    }
    return true;
  }
}
