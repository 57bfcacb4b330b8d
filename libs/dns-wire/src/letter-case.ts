import { HEADER_BYTES, QUESTION_FIXED_BYTES } from './protocol.js';

const CASE_BIT = 0x20;
const BITS = 16;

/** Unpredictable 16-bit numbers. */
export interface RandomSource {
  next(): number;
}

/**
 * Gives each letter of the name in the question a case at random: a forger has to guess it, because servers repeat the
 * question as it is (draft-vixie-dnsext-dns0x20).
 */
export function mixCase(message: Uint8Array, questionEnd: number, random: RandomSource): void {
  const nameEnd = questionEnd - QUESTION_FIXED_BYTES;
  let bits = 0;
  let bitsLeft = 0;
  for (let at = HEADER_BYTES; at < nameEnd; at++) {
    if (!isLetter(message[at])) continue;
    if (bitsLeft === 0) {
      bits = random.next();
      bitsLeft = BITS;
    }
    message[at] = (message[at] & ~CASE_BIT) | ((bits & 1) * CASE_BIT);
    bits >>>= 1;
    bitsLeft--;
  }
}

/** Whether two messages have the same question, byte for byte. */
export function hasSameCase(a: Uint8Array, b: Uint8Array, questionEnd: number): boolean {
  for (let at = HEADER_BYTES; at < questionEnd; at++) if (a[at] !== b[at]) return false;
  return true;
}

/** The length of a label is at most 63, so it is never taken for a letter. */
function isLetter(byte: number): boolean {
  const lower = byte | CASE_BIT;
  return lower >= 0x61 && lower <= 0x7a;
}
