import { readUint16 } from './bytes.js';
import { BAD_NAME, skipUncompressedName } from './names.js';
import {
  HEADER_BYTES,
  LABEL_TYPE_MASK,
  MAX_MESSAGE_BYTES,
  POINTER_MASK,
  QUESTION_FIXED_BYTES,
  RECORD_FIXED_BYTES,
} from './protocol.js';
import { firstNameInRdata, namesInRdata } from './rdata-names.js';
import { endOfRecord, fixedPartOf, type Response } from './response.js';

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
