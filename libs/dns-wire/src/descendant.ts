import { copyBytes, readUint16, writeUint16 } from './bytes.js';
import { BAD_NAME } from './names.js';
import {
  HEADER_BYTES,
  LABEL_TYPE_MASK,
  NAME_POINTER,
  POINTER_MASK,
  RECORD_FIXED_BYTES,
  Type,
} from './protocol.js';
import { endOfRecord, removeAdditional, type Response } from './response.js';

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
  if (response.recordsEnd + distance > POINTER_MASK) return false;
  if (!movePointers(response, distance)) return false;
  response.bytes.copyWithin(questionEnd, start, response.recordsEnd);
  copyBytes(bytes, HEADER_BYTES, response.bytes, HEADER_BYTES, questionEnd - HEADER_BYTES);
  for (let i = 0; i < response.ttlCount; i++) response.ttlOffsets[i] += distance;
  response.questionEnd = questionEnd;
  response.recordsEnd += distance;
  return true;
}

function movePointers({ bytes, questionEnd, recordsEnd }: Response, distance: number): boolean {
  let at = questionEnd;
  while (at < recordsEnd) {
    const fixed = moveName(bytes, at, recordsEnd, distance);
    if (fixed === BAD_NAME) return false;
    const end = endOfRecord(bytes, fixed);
    const type = readUint16(bytes, fixed);
    if (!isMovable(type)) return false;
    let nameAt = fixed + RECORD_FIXED_BYTES;
    for (let left = compressibleNames(type); left > 0; left--) {
      nameAt = moveName(bytes, nameAt, end, distance);
      if (nameAt === BAD_NAME) return false;
    }
    at = end;
  }
  return true;
}

/** Names at the start of the rdata that may be compressed. Those of DNSSEC are not (RFC 4034 §3.1.7, §4.1.1). */
function compressibleNames(type: number): number {
  if (type === Type.soa) return 2;
  return type === Type.ns ? 1 : 0;
}

/** The types in the authority section of a negative answer. */
function isMovable(type: number): boolean {
  return (
    type === Type.soa ||
    type === Type.ns ||
    type === Type.rrsig ||
    type === Type.nsec ||
    type === Type.nsec3
  );
}

/** Moves the pointer that the name ends with, if it does. @returns the offset after the name, or `BAD_NAME` */
function moveName(bytes: Uint8Array, offset: number, end: number, distance: number): number {
  let at = offset;
  while (at < end) {
    const label = bytes[at];
    if (label === 0) return at + 1;
    if (label >= LABEL_TYPE_MASK) {
      const target = (readUint16(bytes, at) & POINTER_MASK) + distance;
      if (at + 2 > end || target > POINTER_MASK) return BAD_NAME;
      writeUint16(bytes, at, NAME_POINTER | target);
      return at + 2;
    }
    at += label + 1;
  }
  return BAD_NAME;
}
