import { copyBytes, writeUint16 } from './bytes.js';
import {
  ANCOUNT_OFFSET,
  ARCOUNT_OFFSET,
  DNSSEC_OK,
  EDNS_UDP_BYTES,
  Flag,
  FLAGS_OFFSET,
  HEADER_BYTES,
  NSCOUNT_OFFSET,
  OPT_FIXED_BYTES,
  OPTION_COOKIE,
  OPTION_HEADER_BYTES,
  OPTION_PADDING,
  QDCOUNT_OFFSET,
  Type,
} from './protocol.js';
import type { Query } from './query.js';

/** Largest query to an upstream: header, name, type and class, OPT with cookies, padding. */
export const MAX_UPSTREAM_QUERY_BYTES = 384;

/**
 * The query for an upstream resolver: an id of its own, the CD bit of the client, the question in its own case, and
 * EDNS with our UDP size and the DO bit of the client. RD and AD are always set: other clients may share the answer,
 * and may want to know whether it is authenticated (RFC 6840 §5.7).
 * @returns the length in bytes
 */
export function writeUpstreamQuery(
  out: Uint8Array,
  bytes: Uint8Array,
  query: Query,
  id: number,
): number {
  const end = query.questionEnd;
  writeUint16(out, 0, id);
  writeUint16(out, FLAGS_OFFSET, Flag.rd | Flag.ad | (query.flags & Flag.cd));
  writeUint16(out, QDCOUNT_OFFSET, 1);
  writeUint16(out, ANCOUNT_OFFSET, 0);
  writeUint16(out, NSCOUNT_OFFSET, 0);
  writeUint16(out, ARCOUNT_OFFSET, 1);
  copyBytes(bytes, HEADER_BYTES, out, HEADER_BYTES, end - HEADER_BYTES);
  out[end] = 0;
  writeUint16(out, end + 1, Type.opt);
  writeUint16(out, end + 3, EDNS_UDP_BYTES);
  writeUint16(out, end + 5, 0);
  writeUint16(out, end + 7, query.dnssecOk ? DNSSEC_OK : 0);
  writeUint16(out, end + 9, 0);
  return end + OPT_FIXED_BYTES;
}

/** Takes EDNS out of a query that `writeUpstreamQuery` has written. @returns the new length */
export function removeEdns(query: Uint8Array, length: number): number {
  writeUint16(query, ARCOUNT_OFFSET, 0);
  return length - OPT_FIXED_BYTES;
}

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
