import { readUint16, writeUint16 } from './bytes.js';
import { BAD_NAME } from './names.js';
import { HEADER_BYTES, LABEL_TYPE_MASK, NAME_POINTER, POINTER_MASK } from './protocol.js';
import { firstNameInRdata, namesInRdata } from './rdata-names.js';
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
