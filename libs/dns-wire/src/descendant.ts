import { copyBytes } from './bytes.js';
import { adaptPointers, Move } from './moved-names.js';
import { HEADER_BYTES, POINTER_MASK } from './protocol.js';
import { removeAdditional, type Response } from './response.js';
import { arePointersSound } from './sound-pointers.js';

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
