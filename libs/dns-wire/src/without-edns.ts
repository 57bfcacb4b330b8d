import { readUint16, writeUint16 } from './bytes.js';
import {
  ANCOUNT_OFFSET,
  ARCOUNT_OFFSET,
  Flag,
  FLAGS_OFFSET,
  HEADER_BYTES,
  NSCOUNT_OFFSET,
  OPCODE_QUERY,
  OPCODE_SHIFT,
  OPT_FIXED_BYTES,
  QDCOUNT_OFFSET,
  Rcode,
} from './protocol.js';

/** What `headerErrorOf` returns when the packet is something else. */
export const NO_HEADER_ERROR = -1;

/**
 * The RCODE of a reply that is only a header with FORMERR or NOTIMP. A server that does not know EDNS may answer so: it
 * has not understood the query, so it does not repeat the question (RFC 6891 §7).
 */
export function headerErrorOf(bytes: Uint8Array, length: number): number {
  if (length !== HEADER_BYTES) return NO_HEADER_ERROR;
  const flags = readUint16(bytes, FLAGS_OFFSET);
  const isReply =
    (flags & Flag.qr) !== 0 && (flags & Flag.opcode) >>> OPCODE_SHIFT === OPCODE_QUERY;
  const records =
    readUint16(bytes, QDCOUNT_OFFSET) |
    readUint16(bytes, ANCOUNT_OFFSET) |
    readUint16(bytes, NSCOUNT_OFFSET) |
    readUint16(bytes, ARCOUNT_OFFSET);
  const rcode = flags & Flag.rcode;
  const isError = rcode === Rcode.formErr || rcode === Rcode.notImp;
  return isReply && records === 0 && isError ? rcode : NO_HEADER_ERROR;
}

/** Takes EDNS out of a query that `writeUpstreamQuery` has written. @returns the new length */
export function removeEdns(query: Uint8Array, length: number): number {
  writeUint16(query, ARCOUNT_OFFSET, 0);
  return length - OPT_FIXED_BYTES;
}
