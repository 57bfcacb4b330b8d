import { writeTruncatedAnswer } from './answer.js';
import { copyBytes, readUint32, writeUint16, writeUint32 } from './bytes.js';
import { optBytes, writeOpt } from './opt.js';
import {
  ANCOUNT_OFFSET,
  ARCOUNT_OFFSET,
  Ede,
  Flag,
  FLAGS_OFFSET,
  HEADER_BYTES,
  NSCOUNT_OFFSET,
  QDCOUNT_OFFSET,
  TTL_HIGH_BIT,
  Type,
} from './protocol.js';
import type { Query } from './query.js';
import { endOfRecords, type Response, typeOfRecord } from './response.js';

/**
 * The answer for the client, from an upstream response to the same question. Records are unchanged except for a cap on
 * their TTLs. Id, case of the question, RD, CD and OPT are those of the client. Where the whole response is larger than
 * `limit`, optional records are left out, then the Extended DNS Error; when the others do not fit either, the answer is
 * truncated (RFC 2181 §9). The RCODE of the response must be below 16.
 * @param limit maximum size of the answer in bytes, 512 or more
 * @param ttlCapSeconds upper limit of every TTL
 * @param hasAdditional whether the additional records may come too
 */
export function writeForwardedAnswer(
  out: Uint8Array,
  response: Response,
  bytes: Uint8Array,
  query: Query,
  limit: number,
  ttlCapSeconds: number,
  hasAdditional = true,
): number {
  const { rcode, answerCount, authorityCount, additionalCount, ttlCount } = response;
  let { ede } = response;
  let count = fittingRecords(response, limit - optBytes(query, ede), hasAdditional);
  if (count === TOO_LARGE && ede !== Ede.none) {
    // The reason is left out before any record that the answer needs (RFC 8914 §3).
    ede = Ede.none;
    count = fittingRecords(response, limit - optBytes(query, ede), hasAdditional);
  }
  if (count === TOO_LARGE) return writeTruncatedAnswer(out, bytes, query, rcode);
  writeUint16(out, 0, query.id);
  writeUint16(out, FLAGS_OFFSET, forwardedFlags(response, query));
  writeUint16(out, QDCOUNT_OFFSET, 1);
  writeUint16(out, ANCOUNT_OFFSET, answerCount);
  writeUint16(out, NSCOUNT_OFFSET, count === answerCount ? 0 : authorityCount);
  writeUint16(out, ARCOUNT_OFFSET, count === ttlCount ? additionalCount : 0);
  copyBytes(bytes, HEADER_BYTES, out, HEADER_BYTES, query.questionEnd - HEADER_BYTES);
  const start = response.questionEnd;
  const end = endOfRecords(response, count);
  copyBytes(response.bytes, start, out, start, end - start);
  capTtls(out, response, count, ttlCapSeconds);
  return writeOpt(out, end, query, rcode, ede);
}

/** The records that an answer needs do not fit. */
const TOO_LARGE = -1;

/**
 * How many records, from the first on, an answer of at most `room` bytes has: without the additional ones if need be,
 * then without the name servers. Or `TOO_LARGE`.
 */
function fittingRecords(response: Response, room: number, hasAdditional: boolean): number {
  if (hasAdditional && response.recordsEnd <= room) return response.ttlCount;
  const { answerCount, authorityCount } = response;
  const withoutAdditional = answerCount + authorityCount;
  if (endOfRecords(response, withoutAdditional) <= room) return withoutAdditional;
  const isOptional = answerCount > 0 && hasOnlyNameServers(response);
  return isOptional && endOfRecords(response, answerCount) <= room ? answerCount : TOO_LARGE;
}

/** Whether the authority section has no SOA record and no proof (RFC 4035 §3.1.3), which an answer needs. */
function hasOnlyNameServers(response: Response): boolean {
  const { answerCount, authorityCount } = response;
  for (let i = answerCount; i < answerCount + authorityCount; i++) {
    const type = typeOfRecord(response, i);
    if (type !== Type.ns && type !== Type.rrsig) return false;
  }
  return true;
}

/**
 * Never authoritative, whatever the upstream is (RFC 1035 §4.1.1). RD and CD are those of the client. AD only for a
 * client that asked for it with AD or DO (RFC 6840 §5.8).
 */
function forwardedFlags(response: Response, query: Query): number {
  const wantsAd = query.dnssecOk || (query.flags & Flag.ad) !== 0;
  const copiedFlags = Flag.tc | Flag.rcode | (wantsAd ? Flag.ad : 0);
  return Flag.qr | Flag.ra | (response.flags & copiedFlags) | (query.flags & (Flag.rd | Flag.cd));
}

/** Caps the TTLs of the first `count` records of `response`, which are in `out` at the same offsets. */
function capTtls(out: Uint8Array, response: Response, count: number, ttlCapSeconds: number): void {
  const { ttlOffsets } = response;
  for (let i = 0; i < count; i++) {
    const at = ttlOffsets[i];
    const ttl = readUint32(out, at);
    if (ttl >= TTL_HIGH_BIT) writeUint32(out, at, 0);
    else if (ttl > ttlCapSeconds) writeUint32(out, at, ttlCapSeconds);
  }
}
