import { copyBytes, readUint16 } from './bytes.js';
import { LABEL_TYPE_MASK, MAX_LABEL_BYTES, MAX_NAME_BYTES, POINTER_MASK } from './protocol.js';

/** A name that violates RFC 1035 §3.1 or §4.1.4, or runs past the end of the message. */
export const BAD_NAME = -1;

/** A name has at most 127 labels, and each pointer follows at least one of them. */
const MAX_POINTERS = 127;

/**
 * Finds the end of an uncompressed wire name (RFC 1035 §3.1) of at most 255 bytes.
 * @returns the offset after the root label, or `BAD_NAME`, also for a compression pointer
 */
export function skipUncompressedName(bytes: Uint8Array, length: number, offset: number): number {
  const limit = Math.min(length, offset + MAX_NAME_BYTES);
  let at = offset;
  while (at < limit) {
    const label = bytes[at];
    if (label === 0) return at + 1;
    if (label > MAX_LABEL_BYTES) return BAD_NAME;
    at += label + 1;
  }
  return BAD_NAME;
}

/**
 * Finds the end of a name that may be compressed (RFC 1035 §4.1.4), without following its pointer.
 * @returns the offset after the root label or the pointer, or `BAD_NAME`
 */
export function skipName(bytes: Uint8Array, length: number, offset: number): number {
  const limit = Math.min(length, offset + MAX_NAME_BYTES);
  let at = offset;
  while (at < limit) {
    const label = bytes[at];
    if (label === 0) return at + 1;
    if (label >= LABEL_TYPE_MASK) return at + 2 <= length ? at + 2 : BAD_NAME;
    if (label > MAX_LABEL_BYTES) return BAD_NAME;
    at += label + 1;
  }
  return BAD_NAME;
}

/**
 * Writes a name that may be compressed to the start of `scratch` (255 bytes or more) as an uncompressed wire name. Each
 * pointer must point before the place that it was reached from, so every name ends.
 * @returns the number of bytes written, or `BAD_NAME`
 */
export function expandName(
  bytes: Uint8Array,
  length: number,
  offset: number,
  scratch: Uint8Array,
): number {
  let at = offset;
  let start = offset;
  let written = 0;
  let pointers = 0;
  while (at < length) {
    const label = bytes[at];
    if (label >= LABEL_TYPE_MASK) {
      if (at + 2 > length || ++pointers > MAX_POINTERS) return BAD_NAME;
      at = readUint16(bytes, at) & POINTER_MASK;
      if (at >= start) return BAD_NAME;
      start = at;
      continue;
    }
    if (label > MAX_LABEL_BYTES) return BAD_NAME;
    const size = label + 1;
    if (at + size > length || written + size > MAX_NAME_BYTES) return BAD_NAME;
    copyBytes(bytes, at, scratch, written, size);
    written += size;
    if (label === 0) return written;
    at += size;
  }
  return BAD_NAME;
}

/**
 * Presentation format (RFC 1035 §5.1) of the valid, uncompressed wire name at `offset`, without the trailing dot
 * (except for the root). Bytes other than letters, digits, `-` and `_` become `\\ddd`.
 */
export function formatName(bytes: Uint8Array, offset: number): string {
  if (bytes[offset] === 0) return '.';
  let text = '';
  for (let at = offset; bytes[at] !== 0; at += bytes[at] + 1) {
    if (at !== offset) text += '.';
    for (let i = at + 1; i <= at + bytes[at]; i++) text += formatByte(bytes[i]);
  }
  return text;
}

function formatByte(byte: number): string {
  const character = String.fromCharCode(byte);
  return /[\w-]/.test(character) ? character : `\\${String(byte).padStart(3, '0')}`;
}

/** `\\ddd`, an escaped character, or a plain one: the character in group 1, 2 or 3. */
const NAME_CHARACTER = /\\(\d{3})|\\([!-/:-~])|([!-[\]-~])/gy;

/**
 * The wire name of a name in presentation format (RFC 1035 §5.1), as `formatName` writes it. A dot at the end may be
 * left out, except for the root.
 * @returns null for any other text
 */
export function parseName(text: string): Uint8Array | null {
  if (text === '.') return Uint8Array.of(0);
  const bytes = [0];
  let lengthAt = 0;
  let read = 0;
  for (const [token, decimal, escaped, plain] of text.matchAll(NAME_CHARACTER)) {
    read += token.length;
    if (plain === '.') {
      if (bytes[lengthAt] === 0) return null;
      lengthAt = bytes.push(0) - 1;
      continue;
    }
    const byte = decimal === undefined ? (escaped ?? plain).charCodeAt(0) : Number(decimal);
    if (byte > 255 || ++bytes[lengthAt] > MAX_LABEL_BYTES) return null;
    bytes.push(byte);
  }
  if (read === 0 || read < text.length) return null;
  if (bytes[lengthAt] !== 0) bytes.push(0);
  return bytes.length > MAX_NAME_BYTES ? null : Uint8Array.from(bytes);
}

/** Length of the valid, uncompressed wire name at `offset`. */
export function wireNameBytes(bytes: Uint8Array, offset: number): number {
  let at = offset;
  while (bytes[at] !== 0) at += bytes[at] + 1;
  return at + 1 - offset;
}

/** Whether two byte ranges are equal, ignoring the case of ASCII letters (RFC 4343 §3). */
export function equalsIgnoringCase(
  a: Uint8Array,
  aOffset: number,
  b: Uint8Array,
  bOffset: number,
  length: number,
): boolean {
  for (let i = 0; i < length; i++) {
    if (lowerCase(a[aOffset + i]) !== lowerCase(b[bOffset + i])) return false;
  }
  return true;
}

export function lowerCase(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
}
