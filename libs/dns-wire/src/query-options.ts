import { copyBytes, writeUint16 } from './bytes.js';
import { OPTION_COOKIE, OPTION_HEADER_BYTES } from './protocol.js';

/** Offset of the RDLENGTH of OPT from the end of a query without options. */
const RDLENGTH_FROM_END = 2;

/**
 * Adds the cookies to a query without options that `writeUpstreamQuery` has written.
 * @param cookies the client cookie, and the server cookie where it is known (RFC 7873 §4)
 * @param cookieBytes their size together
 * @returns the new length
 */
export function addCookies(
  query: Uint8Array,
  length: number,
  cookies: Uint8Array,
  cookieBytes: number,
): number {
  writeUint16(query, length - RDLENGTH_FROM_END, OPTION_HEADER_BYTES + cookieBytes);
  writeUint16(query, length, OPTION_COOKIE);
  writeUint16(query, length + 2, cookieBytes);
  copyBytes(cookies, 0, query, length + OPTION_HEADER_BYTES, cookieBytes);
  return length + OPTION_HEADER_BYTES + cookieBytes;
}
