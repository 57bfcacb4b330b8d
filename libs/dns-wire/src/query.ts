import { copyBytes, readUint16 } from './bytes.js';
import { areOptionsValid, BAD_COOKIE_LENGTH, hasOption, readCookie } from './edns.js';
import { BAD_NAME, skipName, skipUncompressedName } from './names.js';
import {
  ANCOUNT_OFFSET,
  ARCOUNT_OFFSET,
  CLASSIC_UDP_BYTES,
  DNSSEC_OK,
  EDNS_UDP_BYTES,
  FIRST_META_TYPE,
  Flag,
  FLAGS_OFFSET,
  HEADER_BYTES,
  LAST_META_TYPE,
  MAX_COOKIES_BYTES,
  NSCOUNT_OFFSET,
  OPTION_KEEPALIVE,
  OPTION_NSID,
  OPTION_PADDING,
  QDCOUNT_OFFSET,
  QUESTION_FIXED_BYTES,
  Rcode,
  RECORD_FIXED_BYTES,
  Type,
} from './protocol.js';

/** The result of parsing a packet. A positive status is the RCODE to answer with. */
export const QueryStatus = {
  ok: 0,
  formErr: Rcode.formErr,
  notImp: Rcode.notImp,
  badVers: Rcode.badVers,
  /** No answer at all: less than a header, or itself a reply. */
  drop: -1,
  /** No question but a COOKIE option: the client asks for a server cookie only (RFC 7873 §5.4). */
  cookieOnly: -2,
} as const;
export type QueryStatus = (typeof QueryStatus)[keyof typeof QueryStatus];

const NO_BYTES = new Uint8Array(0);

/** One parsed query; reused. Offsets refer to the bytes given to `parseQuery`, which still belong to the caller. */
export class Query {
  /** Size of the message in bytes. */
  size = 0;
  id = 0;
  /** The 16 flag bits of the header, see `Flag`. */
  flags = 0;
  qtype = 0;
  qclass = 0;
  /**
   * Offset after the question, or the end of the header without a usable question. The qname starts at `HEADER_BYTES`.
   */
  questionEnd = HEADER_BYTES;
  /** Whether the query has an OPT record (RFC 6891). */
  hasEdns = false;
  /** Whether the client wants DNSSEC records (DO, RFC 3225). */
  dnssecOk = false;
  /** Largest answer that the client accepts over UDP: 512 … 1232 bytes. */
  udpBytes: number = CLASSIC_UDP_BYTES;
  /**
   * Size of the COOKIE option (RFC 7873 §4): 0 without one, 8 for a client cookie only, 16 … 40 with a server cookie.
   */
  cookieBytes = 0;
  /**
   * The client cookie in the first 8 bytes, then the server cookie. The caller writes the server cookie for the answer
   * in its place, 24 bytes in all, and sets `hasAnswerCookie`.
   */
  readonly cookie = new Uint8Array(MAX_COOKIES_BYTES);
  hasAnswerCookie = false;
  /** Whether the query has a PADDING option (RFC 7830). */
  hasPadding = false;
  /** Whether to pad the answer. Padding hides sizes on an encrypted transport; elsewhere it is a waste. */
  isAnswerPadded = false;
  /** Whether the client asks for the identity of the server (NSID, RFC 5001). */
  hasNsid = false;
  /** NSID option of the answer; the caller sets it. Empty: none. */
  nsid: Uint8Array = NO_BYTES;
  /** NSID is left out of an answer that would become larger than this. */
  nsidLimit = 0;
  /** Whether the client asks how long a connection may be idle (edns-tcp-keepalive, RFC 7828). */
  hasKeepalive = false;
  /** TIMEOUT of that option in the answer, in units of 100 ms; the caller sets it. Negative: no option. */
  keepaliveUnits = -1;
  /** Where the options of the OPT record begin and end in the message; equal without any. */
  optionsStart = 0;
  optionsEnd = 0;
  /** Whether EXTRA-TEXTs for this client are JSON (draft-ietf-dnsop-structured-dns-error); the caller sets it. */
  wantsStructuredErrors = false;
  /** Whether the server cookie was issued to this client, which proves its address. */
  hasValidCookie = false;

  get recursionDesired(): boolean {
    return (this.flags & Flag.rd) !== 0;
  }

  copyFrom(other: Query): void {
    this.size = other.size;
    this.id = other.id;
    this.flags = other.flags;
    this.qtype = other.qtype;
    this.qclass = other.qclass;
    this.questionEnd = other.questionEnd;
    this.hasEdns = other.hasEdns;
    this.dnssecOk = other.dnssecOk;
    this.udpBytes = other.udpBytes;
    this.cookieBytes = other.cookieBytes;
    this.hasAnswerCookie = other.hasAnswerCookie;
    this.hasValidCookie = other.hasValidCookie;
    this.hasPadding = other.hasPadding;
    this.isAnswerPadded = other.isAnswerPadded;
    this.hasKeepalive = other.hasKeepalive;
    this.keepaliveUnits = other.keepaliveUnits;
    this.hasNsid = other.hasNsid;
    this.nsid = other.nsid;
    this.nsidLimit = other.nsidLimit;
    this.optionsStart = other.optionsStart;
    this.optionsEnd = other.optionsEnd;
    this.wantsStructuredErrors = other.wantsStructuredErrors;
    copyBytes(other.cookie, 0, this.cookie, 0, other.cookieBytes === 0 ? 0 : MAX_COOKIES_BYTES);
  }
}

const EDNS_VERSION = 0;

/**
 * Parses a query: one question without compression, no answer or authority records, at most one OPT record, no trailing
 * bytes. Reads `bytes` up to `length` only.
 *
 * Whatever the status is, `out` holds what an answer needs: id and flags, the question if it is valid, and the EDNS
 * part as far as it was parsed. Only after `drop` it is undefined.
 */
export function parseQuery(bytes: Uint8Array, length: number, out: Query): QueryStatus {
  if (length < HEADER_BYTES) return QueryStatus.drop;
  const flags = readUint16(bytes, FLAGS_OFFSET);
  if ((flags & Flag.qr) !== 0) return QueryStatus.drop;
  out.size = length;
  out.id = readUint16(bytes, 0);
  out.flags = flags;
  out.qtype = 0;
  out.qclass = 0;
  out.questionEnd = HEADER_BYTES;
  out.hasEdns = false;
  out.dnssecOk = false;
  out.udpBytes = CLASSIC_UDP_BYTES;
  out.cookieBytes = 0;
  out.hasAnswerCookie = false;
  out.hasValidCookie = false;
  out.hasPadding = false;
  out.isAnswerPadded = false;
  out.hasKeepalive = false;
  out.keepaliveUnits = -1;
  out.hasNsid = false;
  out.nsid = NO_BYTES;
  out.optionsStart = 0;
  out.optionsEnd = 0;
  out.wantsStructuredErrors = false;
  // The opcode QUERY is 0.
  if ((flags & Flag.opcode) !== 0) return otherOpcode(bytes, length, out);
  if (!parseQuestion(bytes, length, out)) return withoutQuestion(bytes, length, out);
  const status = parseRecords(bytes, length, out);
  return status === QueryStatus.ok ? checkType(bytes, out.qtype) : status;
}

/** Only its OPT record matters, if it looks like a query: the answer has one too (RFC 6891 §6.1.1). */
function otherOpcode(bytes: Uint8Array, length: number, out: Query): QueryStatus {
  const isReadable = readUint16(bytes, QDCOUNT_OFFSET) === 0 || parseQuestion(bytes, length, out);
  if (isReadable) parseRecords(bytes, length, out);
  out.questionEnd = HEADER_BYTES;
  out.qtype = 0;
  out.qclass = 0;
  return QueryStatus.notImp;
}

/** One question (RFC 9619), its name without pointers. Sets nothing unless it is valid. */
function parseQuestion(bytes: Uint8Array, length: number, out: Query): boolean {
  if (readUint16(bytes, QDCOUNT_OFFSET) !== 1) return false;
  const nameEnd = skipUncompressedName(bytes, length, HEADER_BYTES);
  if (nameEnd === BAD_NAME || nameEnd + QUESTION_FIXED_BYTES > length) return false;
  out.qtype = readUint16(bytes, nameEnd);
  out.qclass = readUint16(bytes, nameEnd + 2);
  out.questionEnd = nameEnd + QUESTION_FIXED_BYTES;
  return true;
}

/** A query without a usable question is an error, unless it has nothing but a COOKIE option. */
function withoutQuestion(bytes: Uint8Array, length: number, out: Query): QueryStatus {
  if (readUint16(bytes, QDCOUNT_OFFSET) !== 0 || !hasOnlyAdditional(bytes)) {
    return QueryStatus.formErr;
  }
  const status = parseRecords(bytes, length, out);
  if (status !== QueryStatus.ok) return status;
  return out.cookieBytes > 0 ? QueryStatus.cookieOnly : QueryStatus.formErr;
}

/** Parses all records. `checkType` rejects those of the answer and authority sections. */
function parseRecords(bytes: Uint8Array, length: number, out: Query): QueryStatus {
  const additional = readUint16(bytes, ARCOUNT_OFFSET);
  const others = readUint16(bytes, ANCOUNT_OFFSET) + readUint16(bytes, NSCOUNT_OFFSET);
  let at = out.questionEnd;
  let version = EDNS_VERSION;
  for (let left = others + additional; left > 0; left--) {
    const nameEnd = skipName(bytes, length, at);
    if (nameEnd === BAD_NAME || nameEnd + RECORD_FIXED_BYTES > length) return QueryStatus.formErr;
    const rdata = nameEnd + RECORD_FIXED_BYTES;
    const end = rdata + readUint16(bytes, nameEnd + 8);
    if (end > length) return QueryStatus.formErr;
    if (readUint16(bytes, nameEnd) === Type.opt) {
      if (left > additional || out.hasEdns || nameEnd !== at + 1) return QueryStatus.formErr;
      if (!areOptionsValid(bytes, rdata, end)) return QueryStatus.formErr;
      version = readOpt(bytes, nameEnd, out);
      out.optionsStart = rdata;
      out.optionsEnd = end;
      out.hasPadding = hasOption(bytes, rdata, end, OPTION_PADDING);
      out.hasKeepalive = hasOption(bytes, rdata, end, OPTION_KEEPALIVE);
      out.hasNsid = hasOption(bytes, rdata, end, OPTION_NSID);
      const cookieBytes = version === EDNS_VERSION ? readCookie(bytes, rdata, end, out.cookie) : 0;
      if (cookieBytes === BAD_COOKIE_LENGTH) return QueryStatus.formErr;
      out.cookieBytes = cookieBytes;
    }
    at = end;
  }
  if (at !== length) return QueryStatus.formErr;
  return version === EDNS_VERSION ? QueryStatus.ok : QueryStatus.badVers;
}

/**
 * OPT: the class is the UDP size, the TTL is extended RCODE, version and flags (RFC 6891 §6.1.2–6.1.3). @returns the
 * version
 */
function readOpt(bytes: Uint8Array, fixed: number, out: Query): number {
  out.hasEdns = true;
  out.udpBytes = Math.min(
    Math.max(readUint16(bytes, fixed + 2), CLASSIC_UDP_BYTES),
    EDNS_UDP_BYTES,
  );
  out.dnssecOk = (readUint16(bytes, fixed + 6) & DNSSEC_OK) !== 0;
  return bytes[fixed + 5];
}

function hasOnlyAdditional(bytes: Uint8Array): boolean {
  return readUint16(bytes, ANCOUNT_OFFSET) === 0 && readUint16(bytes, NSCOUNT_OFFSET) === 0;
}

/**
 * Zone transfers (an IXFR has an authority record, RFC 1995 §3) and other meta types are not implemented. ANY is a
 * normal question. 0, OPT and NXNAME (RFC 9824 §3.5) cannot be queried.
 */
function checkType(bytes: Uint8Array, qtype: number): QueryStatus {
  if (qtype === 0 || qtype === Type.opt || qtype === Type.nxname) return QueryStatus.formErr;
  if (qtype >= FIRST_META_TYPE && qtype < LAST_META_TYPE) return QueryStatus.notImp;
  return hasOnlyAdditional(bytes) ? QueryStatus.ok : QueryStatus.formErr;
}
