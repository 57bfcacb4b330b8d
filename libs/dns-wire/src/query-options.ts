import { copyBytes, writeUint16 } from './bytes.js';
import { OPTION_COOKIE, OPTION_HEADER_BYTES, OPTION_PADDING } from './protocol.js';

/** Offset of the RDLENGTH of OPT from the end of a query without options. */
const RDLENGTH_FROM_END = 2;
/** RFC 8467 §4.1. */
const QUERY_BLOCK_BYTES = 128;

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

/**
 * Pads a query without options that `writeUpstreamQuery` has written, so that its length says little about its name
 * (RFC 8467).
 * @returns the new length
 */
export function addPadding(query: Uint8Array, length: number): number {
  const bare = length + OPTION_HEADER_BYTES;
  const padded = Math.ceil(bare / QUERY_BLOCK_BYTES) * QUERY_BLOCK_BYTES;
  writeUint16(query, length - RDLENGTH_FROM_END, padded - length);
  writeUint16(query, length, OPTION_PADDING);
  writeUint16(query, length + 2, padded - bare);
  query.fill(0, bare, padded);
  return padded;
}
