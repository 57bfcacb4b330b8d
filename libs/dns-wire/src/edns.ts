import { copyBytes, readUint16 } from './bytes.js';
import {
  CLIENT_COOKIE_BYTES,
  Ede,
  MAX_COOKIES_BYTES,
  OPTION_COOKIE,
  OPTION_EDE,
  OPTION_HEADER_BYTES,
  MIN_COOKIES_BYTES,
} from './protocol.js';

/** Whether the options fill the rdata of an OPT record exactly: code, length, data (RFC 6891 §6.1.2). */
export function areOptionsValid(bytes: Uint8Array, rdata: number, end: number): boolean {
  let at = rdata;
  while (at + OPTION_HEADER_BYTES <= end) at += OPTION_HEADER_BYTES + readUint16(bytes, at + 2);
  return at === end;
}

/** INFO-CODE of the first EDE option that has one (RFC 8914 §2), or `Ede.none`. The options must be valid. */
export function readEde(bytes: Uint8Array, rdata: number, end: number): number {
  for (let at = rdata; at < end; at += OPTION_HEADER_BYTES + readUint16(bytes, at + 2)) {
    const isEde = readUint16(bytes, at) === OPTION_EDE && readUint16(bytes, at + 2) >= 2;
    if (isEde) return readUint16(bytes, at + OPTION_HEADER_BYTES);
  }
  return Ede.none;
}

/** Offset of the data of the first option with that code, or 0. The options must be valid. */
export function findOption(bytes: Uint8Array, rdata: number, end: number, code: number): number {
  for (let at = rdata; at < end; at += OPTION_HEADER_BYTES + readUint16(bytes, at + 2)) {
    if (readUint16(bytes, at) === code) return at + OPTION_HEADER_BYTES;
  }
  return 0;
}

/** Whether there is an option with that code. The options must be valid. */
export function hasOption(bytes: Uint8Array, rdata: number, end: number, code: number): boolean {
  return findOption(bytes, rdata, end, code) > 0;
}

/** The COOKIE option has an impossible length (RFC 7873 §5.2.2). */
export const BAD_COOKIE_LENGTH = -1;

/**
 * Copies the first COOKIE option to `out`: the client cookie, followed by the server cookie if there is one. The
 * options must be valid.
 * @returns the number of bytes: 0 without a cookie, 8, 16 … 40; or `BAD_COOKIE_LENGTH`
 */
export function readCookie(bytes: Uint8Array, rdata: number, end: number, out: Uint8Array): number {
  const at = findOption(bytes, rdata, end, OPTION_COOKIE);
  if (at === 0) return 0;
  const size = readUint16(bytes, at - 2);
  const hasBoth = size >= MIN_COOKIES_BYTES && size <= MAX_COOKIES_BYTES;
  if (size !== CLIENT_COOKIE_BYTES && !hasBoth) return BAD_COOKIE_LENGTH;
  copyBytes(bytes, at, out, 0, size);
  return size;
}
