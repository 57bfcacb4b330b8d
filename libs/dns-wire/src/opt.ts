import { copyBytes, readUint16, writeUint16 } from './bytes.js';
import {
  ANSWER_COOKIE_BYTES,
  ARCOUNT_OFFSET,
  DNSSEC_OK,
  Ede,
  EDNS_UDP_BYTES,
  OPT_FIXED_BYTES,
  OPTION_COOKIE,
  OPTION_EDE,
  OPTION_HEADER_BYTES,
  OPTION_KEEPALIVE,
  OPTION_NSID,
  OPTION_PADDING,
  PADDING_BLOCK_BYTES,
  Type,
} from './protocol.js';
import type { Query } from './query.js';

const EDE_BYTES = OPTION_HEADER_BYTES + 2;
const NO_TEXT = new Uint8Array(0);
const KEEPALIVE_BYTES = OPTION_HEADER_BYTES + 2;
const COOKIE_BYTES = OPTION_HEADER_BYTES + ANSWER_COOKIE_BYTES;

/** An Extended DNS Error (RFC 8914 §2). */
export interface ExtendedError {
  /** An INFO-CODE or `Ede.none`. */
  readonly code: number;
  /** EXTRA-TEXT: the first `textBytes` of it, in UTF-8. */
  readonly text: Uint8Array;
  readonly textBytes: number;
}

export function extendedError(code: number, extraText = ''): ExtendedError {
  const text = new TextEncoder().encode(extraText);
  return { code, text, textBytes: text.length };
}

export const NO_EXTENDED_ERROR = extendedError(Ede.none);

/** Bytes that `writeOpt` adds, without EXTRA-TEXT, NSID and padding. */
export function optBytes(query: Query, ede: number): number {
  if (!query.hasEdns) return 0;
  const edeBytes = ede === Ede.none ? 0 : EDE_BYTES;
  const cookieBytes = query.hasAnswerCookie ? COOKIE_BYTES : 0;
  const keepaliveBytes = query.keepaliveUnits < 0 ? 0 : KEEPALIVE_BYTES;
  return OPT_FIXED_BYTES + edeBytes + cookieBytes + keepaliveBytes;
}

/**
 * Appends the OPT record, if the query has one: upper bits of `rcode`, version 0, DO as in the query (RFC 3225 §3), an
 * Extended DNS Error with its EXTRA-TEXT unless `ede` is `Ede.none` (RFC 8914 §2), the cookies (RFC 7873 §5.2), the
 * idle timeout (RFC 7828 §3.2.2) and NSID (RFC 5001 §2.1). Increments ARCOUNT.
 */
export function writeOpt(
  out: Uint8Array,
  end: number,
  query: Query,
  rcode: number,
  ede: number,
  edeText: Uint8Array = NO_TEXT,
  edeTextBytes = 0,
): number {
  if (!query.hasEdns) return end;
  out[end] = 0;
  writeUint16(out, end + 1, Type.opt);
  writeUint16(out, end + 3, EDNS_UDP_BYTES);
  out[end + 5] = rcode >>> 4;
  out[end + 6] = 0;
  writeUint16(out, end + 7, query.dnssecOk ? DNSSEC_OK : 0);
  writeUint16(out, ARCOUNT_OFFSET, readUint16(out, ARCOUNT_OFFSET) + 1);
  let at = end + OPT_FIXED_BYTES;
  if (ede !== Ede.none) {
    at = writeOptionHeader(out, at, OPTION_EDE, EDE_BYTES + edeTextBytes);
    writeUint16(out, at, ede);
    at += EDE_BYTES - OPTION_HEADER_BYTES;
    copyBytes(edeText, 0, out, at, edeTextBytes);
    at += edeTextBytes;
  }
  if (query.hasAnswerCookie) {
    at = writeOptionHeader(out, at, OPTION_COOKIE, COOKIE_BYTES);
    copyBytes(query.cookie, 0, out, at, ANSWER_COOKIE_BYTES);
    at += ANSWER_COOKIE_BYTES;
  }
  if (query.keepaliveUnits >= 0) {
    at = writeOptionHeader(out, at, OPTION_KEEPALIVE, KEEPALIVE_BYTES);
    writeUint16(out, at, query.keepaliveUnits);
    at += KEEPALIVE_BYTES - OPTION_HEADER_BYTES;
  }
  at = writeNsid(out, at, query);
  if (query.isAnswerPadded) at = writePadding(out, at);
  writeUint16(out, end + 9, at - end - OPT_FIXED_BYTES);
  return at;
}

/** NSID, where there is one and room for it: a shorter answer is better than a truncated one. */
function writeNsid(out: Uint8Array, at: number, { nsid, nsidLimit }: Query): number {
  const bytes = OPTION_HEADER_BYTES + nsid.length;
  if (nsid.length === 0 || at + bytes > nsidLimit) return at;
  const data = writeOptionHeader(out, at, OPTION_NSID, bytes);
  copyBytes(nsid, 0, out, data, nsid.length);
  return data + nsid.length;
}

/**
 * Pads with zeros to a multiple of the block size, so that sizes reveal little (RFC 8467 §4.1); never beyond the
 * buffer. OPT is the end of the message.
 */
function writePadding(out: Uint8Array, at: number): number {
  const data = at + OPTION_HEADER_BYTES;
  const end = Math.ceil(data / PADDING_BLOCK_BYTES) * PADDING_BLOCK_BYTES;
  if (end > out.length) return at;
  writeOptionHeader(out, at, OPTION_PADDING, end - at);
  out.fill(0, data, end);
  return end;
}

/** @param bytes size of the option, including its header. @returns the offset of its data */
function writeOptionHeader(out: Uint8Array, at: number, code: number, bytes: number): number {
  writeUint16(out, at, code);
  writeUint16(out, at + 2, bytes - OPTION_HEADER_BYTES);
  return at + OPTION_HEADER_BYTES;
}
