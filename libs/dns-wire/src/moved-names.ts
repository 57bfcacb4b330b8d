import { readUint16, writeUint16 } from './bytes.js';
import { BAD_NAME } from './names.js';
import {
  HEADER_BYTES,
  LABEL_TYPE_MASK,
  NAME_POINTER,
  POINTER_MASK,
  RECORD_FIXED_BYTES,
  Type,
} from './protocol.js';
import { endOfRecord } from './response.js';

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
 * Adapts the compression pointers of records that have moved to [offset, end): what they point to has moved too. Names
 * are where RFC 1035 and older types may have compressed ones; other types have none (RFC 3597 §4).
 * @returns false when a name is malformed, or its pointer would be too large; the records are then undefined
 */
export function adaptPointers(bytes: Uint8Array, offset: number, end: number, move: Move): boolean {
  let at = offset;
  while (at < end) {
    const fixed = adaptName(bytes, at, end, move);
    if (fixed === BAD_NAME) return false;
    const recordEnd = endOfRecord(bytes, fixed);
    const type = readUint16(bytes, fixed);
    if (type < TYPES && !adaptRdata(bytes, fixed, recordEnd, type, move)) return false;
    at = recordEnd;
  }
  return true;
}

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

function adaptRdata(
  bytes: Uint8Array,
  fixed: number,
  end: number,
  type: number,
  move: Move,
): boolean {
  let at = fixed + RECORD_FIXED_BYTES + BYTES_BEFORE[type];
  for (let left = NAMES[type]; left > 0; left--) {
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
