import { copyBytes, readUint16, writeUint16 } from './bytes.js';
import { type ExtendedError, optBytes, writeOpt } from './opt.js';
import {
  ANCOUNT_OFFSET,
  ARCOUNT_OFFSET,
  CLASSIC_UDP_BYTES,
  CLASS_IN,
  Ede,
  Flag,
  FLAGS_OFFSET,
  HEADER_BYTES,
  NAME_POINTER,
  NSCOUNT_OFFSET,
  QDCOUNT_OFFSET,
  QNAME_POINTER,
  Rcode,
  Type,
} from './protocol.js';
import type { Query } from './query.js';
import { SOA_BYTES, writeFixedPart, writeSoaRdata } from './own-records.js';

/*
 * Answers that are created here, not forwarded. `bytes` is the message that `query` was parsed from, `out` the buffer
 * to write to, from its start; the two must not overlap. Every writer returns the length so far, which the next one
 * takes as `end`. With at most `MAX_ADDRESSES` addresses every answer fits 512 bytes, so none is ever truncated.
 */

/** Maximum number of addresses in a block answer: head 271 + 7 × 28 + OPT with EDE and cookies 28 = 512 bytes. */
export const MAX_ADDRESSES = 7;

/**
 * Maximum length of an EXTRA-TEXT: head 271 + OPT with EDE, cookies and idle timeout 51 + 64 are well within 512 bytes.
 */
export const MAX_EDE_TEXT_BYTES = 64;

const IPV4_BYTES = 4;
const IPV6_BYTES = 16;
const OWNER_POINTER_BYTES = 2;

/** HINFO with CPU "RFC8482" and an empty OS (RFC 8482 §4.2). */
const ANY_HINFO = Uint8Array.of(7, 0x52, 0x46, 0x43, 0x38, 0x34, 0x38, 0x32, 0);

/**
 * An answer without records: an error, NODATA or a refusal.
 * @param error its EXTRA-TEXT has at most `MAX_EDE_TEXT_BYTES`
 */
export function writeEmptyAnswer(
  out: Uint8Array,
  bytes: Uint8Array,
  query: Query,
  rcode: number,
  { code, text, textBytes }: ExtendedError,
): number {
  const end = writeHeaderAndQuestion(out, bytes, query, rcode);
  return writeOpt(out, end, query, rcode, code, text, textBytes);
}

/**
 * NOERROR with one A or AAAA record per address, when the query asks for that type. Without addresses: an SOA record of
 * the queried name, so that the client caches the answer for as long (RFC 2308 §5).
 * @param ipv4 addresses, 4 bytes each; may be empty
 * @param ipv6 addresses, 16 bytes each; may be empty
 * @param limit the EXTRA-TEXT is left out of an answer that would become larger than this
 */
export function writeAddressAnswer(
  out: Uint8Array,
  bytes: Uint8Array,
  query: Query,
  ipv4: Uint8Array,
  ipv6: Uint8Array,
  ttlSeconds: number,
  { code, text, textBytes }: ExtendedError,
  limit = CLASSIC_UDP_BYTES,
): number {
  let end = writeHeaderAndQuestion(out, bytes, query, Rcode.noError);
  if (query.qtype === Type.a && ipv4.length > 0) {
    end = writeAddresses(out, end, Type.a, ipv4, IPV4_BYTES, ttlSeconds);
  } else if (query.qtype === Type.aaaa && ipv6.length > 0) {
    end = writeAddresses(out, end, Type.aaaa, ipv6, IPV6_BYTES, ttlSeconds);
  } else {
    end = writeSoa(out, end, HEADER_BYTES, ttlSeconds);
    writeUint16(out, NSCOUNT_OFFSET, 1);
  }
  const hasText = end + optBytes(query, code) + textBytes <= limit;
  return writeOpt(out, end, query, Rcode.noError, code, text, hasText ? textBytes : 0);
}

/**
 * NXDOMAIN or NODATA from a zone of our own, with its SOA record for negative caching (RFC 2308 §5).
 * @param zoneOffset offset in the message of the name of the zone, which is a part of the qname
 * @param ttlSeconds TTL and MINIMUM of the SOA record
 */
export function writeNegativeAnswer(
  out: Uint8Array,
  bytes: Uint8Array,
  query: Query,
  rcode: number,
  zoneOffset: number,
  ttlSeconds: number,
): number {
  const head = writeHeaderAndQuestion(out, bytes, query, rcode);
  const end = writeSoa(out, head, zoneOffset, ttlSeconds);
  writeUint16(out, NSCOUNT_OFFSET, 1);
  return writeOpt(out, end, query, rcode, Ede.none);
}

/** The SOA or NS record of an empty zone whose name is the qname (RFC 6303 §3); NODATA for other types. */
export function writeZoneAnswer(
  out: Uint8Array,
  bytes: Uint8Array,
  query: Query,
  ttlSeconds: number,
): number {
  const { qtype } = query;
  if (qtype !== Type.soa && qtype !== Type.ns) {
    return writeNegativeAnswer(out, bytes, query, Rcode.noError, HEADER_BYTES, ttlSeconds);
  }
  let end = writeHeaderAndQuestion(out, bytes, query, Rcode.noError);
  if (qtype === Type.soa) {
    end = writeSoa(out, end, HEADER_BYTES, ttlSeconds);
  } else {
    const rdata = writeRecordHead(out, end, Type.ns, ttlSeconds, OWNER_POINTER_BYTES);
    writeUint16(out, rdata, QNAME_POINTER);
    end = rdata + OWNER_POINTER_BYTES;
  }
  writeUint16(out, ANCOUNT_OFFSET, 1);
  return writeOpt(out, end, query, Rcode.noError, Ede.none);
}

/** The minimal answer to ANY: one synthesised HINFO record (RFC 8482 §4.2). */
export function writeAnyAnswer(
  out: Uint8Array,
  bytes: Uint8Array,
  query: Query,
  ttlSeconds: number,
): number {
  const head = writeHeaderAndQuestion(out, bytes, query, Rcode.noError);
  const rdata = writeRecordHead(out, head, Type.hinfo, ttlSeconds, ANY_HINFO.length);
  copyBytes(ANY_HINFO, 0, out, rdata, ANY_HINFO.length);
  writeUint16(out, ANCOUNT_OFFSET, 1);
  return writeOpt(out, rdata + ANY_HINFO.length, query, Rcode.noError, Ede.none);
}

/** TC=1 and no records: the client asks again over TCP (RFC 2181 §9); OPT is kept (RFC 6891 §7). */
export function writeTruncatedAnswer(
  out: Uint8Array,
  bytes: Uint8Array,
  query: Query,
  rcode: number,
): number {
  const end = writeHeaderAndQuestion(out, bytes, query, rcode);
  writeUint16(out, FLAGS_OFFSET, readUint16(out, FLAGS_OFFSET) | Flag.tc);
  return writeOpt(out, end, query, rcode, Ede.none);
}

/**
 * NOERROR and AA with one record for each rdata: owner, type and class are those of the question. An answer larger than
 * `limit` is truncated. Without AA a client would discard RESINFO (RFC 9606 §3).
 * @returns the length of the answer in bytes
 */
export function writeRecordsAnswer(
  out: Uint8Array,
  bytes: Uint8Array,
  query: Query,
  rdatas: readonly Uint8Array[],
  ttlSeconds: number,
  limit: number,
): number {
  let end = writeHeaderAndQuestion(out, bytes, query, Rcode.noError);
  for (let i = 0; i < rdatas.length; i++) {
    const { length } = rdatas[i];
    const at = writeRecordHead(out, end, query.qtype, ttlSeconds, length, query.qclass);
    copyBytes(rdatas[i], 0, out, at, length);
    end = at + length;
  }
  if (end + optBytes(query, Ede.none) > limit) {
    return writeTruncatedAnswer(out, bytes, query, Rcode.noError);
  }
  writeUint16(out, FLAGS_OFFSET, readUint16(out, FLAGS_OFFSET) | Flag.aa);
  writeUint16(out, ANCOUNT_OFFSET, rdatas.length);
  return writeOpt(out, end, query, Rcode.noError, Ede.none);
}

/**
 * Header, and the question exactly as it was asked, if there is a usable one. Opcode, RD and CD are those of the query;
 * RA is set.
 */
function writeHeaderAndQuestion(
  out: Uint8Array,
  bytes: Uint8Array,
  query: Query,
  rcode: number,
): number {
  const flags = query.flags & (Flag.opcode | Flag.rd | Flag.cd);
  writeUint16(out, 0, query.id);
  writeUint16(out, FLAGS_OFFSET, flags | Flag.qr | Flag.ra | (rcode & Flag.rcode));
  writeUint16(out, QDCOUNT_OFFSET, query.questionEnd > HEADER_BYTES ? 1 : 0);
  writeUint16(out, ANCOUNT_OFFSET, 0);
  writeUint16(out, NSCOUNT_OFFSET, 0);
  writeUint16(out, ARCOUNT_OFFSET, 0);
  copyBytes(bytes, HEADER_BYTES, out, HEADER_BYTES, query.questionEnd - HEADER_BYTES);
  return query.questionEnd;
}

function writeAddresses(
  out: Uint8Array,
  end: number,
  type: number,
  addresses: Uint8Array,
  addressBytes: number,
  ttlSeconds: number,
): number {
  let at = end;
  for (let from = 0; from < addresses.length; from += addressBytes) {
    const rdata = writeRecordHead(out, at, type, ttlSeconds, addressBytes);
    copyBytes(addresses, from, out, rdata, addressBytes);
    at = rdata + addressBytes;
  }
  writeUint16(out, ANCOUNT_OFFSET, addresses.length / addressBytes);
  return at;
}

/** The SOA record of an empty zone. @returns the length so far */
function writeSoa(out: Uint8Array, at: number, zoneOffset: number, ttlSeconds: number): number {
  const rdata = writeRecordHead(out, at, Type.soa, ttlSeconds, SOA_BYTES);
  writeUint16(out, at, NAME_POINTER | zoneOffset);
  writeSoaRdata(out, rdata, zoneOffset, ttlSeconds);
  return rdata + SOA_BYTES;
}

/** Everything of a record of the queried name except its rdata. @returns the offset of the rdata */
function writeRecordHead(
  out: Uint8Array,
  at: number,
  type: number,
  ttlSeconds: number,
  rdataBytes: number,
  recordClass = CLASS_IN,
): number {
  writeUint16(out, at, QNAME_POINTER);
  return writeFixedPart(out, at + OWNER_POINTER_BYTES, type, recordClass, ttlSeconds, rdataBytes);
}
