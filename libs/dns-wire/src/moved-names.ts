import {
  RECORD_FIXED_BYTES,
  Type,
  HEADER_BYTES,
  LABEL_TYPE_MASK,
  MAX_MESSAGE_BYTES,
  POINTER_MASK,
  QUESTION_FIXED_BYTES,
  NAME_POINTER,
} from './protocol.js';
import { readUint16, writeUint16, copyBytes } from './bytes.js';
import { BAD_NAME, skipUncompressedName } from './names.js';
import { endOfRecord, fixedPartOf, type Response, removeAdditional } from './response.js';

/**
 * Types whose rdata may have compressed names, one after another (RFC 1035 §3.3, RFC 3597 §4): type, bytes before the
 * first name, number of names.
 */
// prettier-ignore
const COMPRESSIBLE: readonly (readonly [type: number, before: number, names: number])[] = [
  [Type.ns, 0, 1], [3 /* MD */, 0, 1], [4 /* MF */, 0, 1], [Type.cname, 0, 1], [Type.soa, 0, 2], [7 /* MB */, 0, 1],
  [8 /* MG */, 0, 1], [9 /* MR */, 0, 1], [Type.ptr, 0, 1], [14 /* MINFO */, 0, 2], [Type.mx, 2, 1],
  [17 /* RP */, 0, 2], [18 /* AFSDB */, 2, 1], [21 /* RT */, 2, 1], [26 /* PX */, 2, 2], [Type.srv, 6, 1],
  [36 /* KX */, 2, 1], [39 /* DNAME */, 0, 1],
];
const TYPES = 40;
const BYTES_BEFORE = new Uint8Array(TYPES);
const NAMES = new Uint8Array(TYPES);
for (const [type, before, names] of COMPRESSIBLE) {
  BYTES_BEFORE[type] = before;
  NAMES[type] = names;
}

/** The number of names that may be compressed in the rdata of such a record. */
export function namesInRdata(type: number): number {
  return type < TYPES ? NAMES[type] : 0;
}

/** @returns the offset of the first of them, in the record whose type is at `fixed` */
export function firstNameInRdata(fixed: number, type: number): number {
  return fixed + RECORD_FIXED_BYTES + (type < TYPES ? BYTES_BEFORE[type] : 0);
}

/** 1 where a label of a checked name begins. Reused. */
const labelStarts = new Uint8Array(MAX_MESSAGE_BYTES);

/**
 * Whether each compression pointer leads to a label of an earlier name (RFC 1035 §4.1.4): in a question, an owner or
 * rdata that may have compressed names, or to an uncompressed name in the rdata of an earlier record. If not, for
 * example if one leads to the type or TTL of a record, names change when the records move.
 */
export function arePointersSound(response: Response): boolean {
  const { bytes, questionEnd } = response;
  labelStarts.fill(0, 0, response.recordsEnd);
  checkName(response, HEADER_BYTES, questionEnd - QUESTION_FIXED_BYTES, 0);
  let at = questionEnd;
  for (let record = 0; record < response.ttlCount; record++) {
    const fixed = fixedPartOf(response, record);
    if (checkName(response, at, fixed, record) === BAD_NAME) return false;
    at = endOfRecord(bytes, fixed);
    const type = readUint16(bytes, fixed);
    let name = firstNameInRdata(fixed, type);
    for (let left = namesInRdata(type); left > 0; left--) {
      name = checkName(response, name, at, record);
      if (name === BAD_NAME) return false;
    }
  }
  return true;
}

/** @param record its index. @returns the offset after the name, or `BAD_NAME` */
function checkName(response: Response, offset: number, end: number, record: number): number {
  const { bytes } = response;
  let at = offset;
  while (at < end) {
    const label = bytes[at];
    if (label >= LABEL_TYPE_MASK) {
      if (at + 2 > end) return BAD_NAME;
      const target = readUint16(bytes, at) & POINTER_MASK;
      const isSound = target < offset && isName(response, target, record);
      return isSound ? at + 2 : BAD_NAME;
    }
    labelStarts[at] = 1;
    if (label === 0) return at + 1;
    at += label + 1;
  }
  return BAD_NAME;
}

/** Whether an earlier name begins at `target`, as a whole or with one of its labels. */
function isName(response: Response, target: number, record: number): boolean {
  if (labelStarts[target] === 1) return true;
  const { bytes } = response;
  const found = lastRecordBefore(response, target, record);
  if (found < 0) return false;
  const end = endOfRecord(bytes, fixedPartOf(response, found));
  return target < end && skipUncompressedName(bytes, end, target) !== BAD_NAME;
}

/** @returns the index of the last record before `record` whose rdata begins at `target` or before it, or -1 */
function lastRecordBefore(response: Response, target: number, record: number): number {
  let low = -1;
  let high = record;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (fixedPartOf(response, middle) + RECORD_FIXED_BYTES <= target) low = middle;
    else high = middle;
  }
  return low;
}

/** How records were moved within a message, or to another one. Reused. */
export class Move {
  /** Where the first of the records was: names at lower offsets belong to the question. */
  recordsStart = HEADER_BYTES;
  /** By how many bytes the name of the question has moved, or the end of it that is still there. */
  nameDistance = 0;
  /** By how many bytes the records have moved. */
  recordDistance = 0;
}

/**
 * Adapts the compression pointers of records that have moved to [offset, end): what they point to has moved too. The
 * pointers must have been sound (`arePointersSound`) before the move.
 * @returns false when a name is malformed, or its pointer would be too large; the records are then undefined
 */
export function adaptPointers(bytes: Uint8Array, offset: number, end: number, move: Move): boolean {
  let at = offset;
  while (at < end) {
    const fixed = adaptName(bytes, at, end, move);
    if (fixed === BAD_NAME) return false;
    const recordEnd = endOfRecord(bytes, fixed);
    if (!adaptRdata(bytes, fixed, recordEnd, move)) return false;
    at = recordEnd;
  }
  return true;
}

function adaptRdata(bytes: Uint8Array, fixed: number, end: number, move: Move): boolean {
  const type = readUint16(bytes, fixed);
  let at = firstNameInRdata(fixed, type);
  for (let left = namesInRdata(type); left > 0; left--) {
    at = adaptName(bytes, at, end, move);
    if (at === BAD_NAME) return false;
  }
  return true;
}

/** Adapts the pointer that the name ends with, if it does. @returns the offset after the name, or `BAD_NAME` */
function adaptName(bytes: Uint8Array, offset: number, end: number, move: Move): number {
  let at = offset;
  while (at < end) {
    const label = bytes[at];
    if (label === 0) return at + 1;
    if (label >= LABEL_TYPE_MASK) {
      if (at + 2 > end) return BAD_NAME;
      const target = readUint16(bytes, at) & POINTER_MASK;
      const moved = target + distanceOf(target, move);
      if (target < HEADER_BYTES || moved > POINTER_MASK) return BAD_NAME;
      writeUint16(bytes, at, NAME_POINTER | moved);
      return at + 2;
    }
    at += label + 1;
  }
  return BAD_NAME;
}

function distanceOf(target: number, move: Move): number {
  return target < move.recordsStart ? move.nameDistance : move.recordDistance;
}

const move = new Move();

/**
 * Makes NXDOMAIN of a name the answer for a name below it (RFC 8020 §2), in the bytes of the response. The question
 * becomes longer, so the records move, and so does all that compression pointers point to: the old name is the end of
 * the new one.
 * @param bytes the query for the name below, whose question ends at `questionEnd`
 * @returns false when the response has records that cannot be moved; it is then undefined
 */
export function lengthenQuestion(
  response: Response,
  bytes: Uint8Array,
  questionEnd: number,
): boolean {
  const start = response.questionEnd;
  const distance = questionEnd - start;
  removeAdditional(response);
  if (response.recordsEnd + distance > POINTER_MASK || !arePointersSound(response)) return false;
  move.recordsStart = start;
  move.nameDistance = distance;
  move.recordDistance = distance;
  if (!adaptPointers(response.bytes, start, response.recordsEnd, move)) return false;
  response.bytes.copyWithin(questionEnd, start, response.recordsEnd);
  copyBytes(bytes, HEADER_BYTES, response.bytes, HEADER_BYTES, questionEnd - HEADER_BYTES);
  for (let i = 0; i < response.ttlCount; i++) response.ttlOffsets[i] += distance;
  response.questionEnd = questionEnd;
  response.recordsEnd += distance;
  return true;
}
