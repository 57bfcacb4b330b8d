import { writeHeaderAndQuestion, writeTruncatedAnswer } from './answer.js';
import { copyBytes, readUint16, writeUint16, writeUint32 } from './bytes.js';
import { optBytes, writeOpt } from './opt.js';
import {
  ANCOUNT_OFFSET,
  Ede,
  Flag,
  FLAGS_OFFSET,
  QNAME_POINTER,
  Rcode,
  RECORD_FIXED_BYTES,
} from './protocol.js';
import type { Query } from './query.js';

const OWNER_POINTER_BYTES = 2;

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
    end = writeRecord(out, end, query, rdatas[i], ttlSeconds);
  }
  if (end + optBytes(query, Ede.none) > limit) {
    return writeTruncatedAnswer(out, bytes, query, Rcode.noError);
  }
  writeUint16(out, FLAGS_OFFSET, readUint16(out, FLAGS_OFFSET) | Flag.aa);
  writeUint16(out, ANCOUNT_OFFSET, rdatas.length);
  return writeOpt(out, end, query, Rcode.noError, Ede.none);
}

function writeRecord(
  out: Uint8Array,
  at: number,
  { qtype, qclass }: Query,
  rdata: Uint8Array,
  ttlSeconds: number,
): number {
  const fixed = at + OWNER_POINTER_BYTES;
  writeUint16(out, at, QNAME_POINTER);
  writeUint16(out, fixed, qtype);
  writeUint16(out, fixed + 2, qclass);
  writeUint32(out, fixed + 4, ttlSeconds);
  writeUint16(out, fixed + 8, rdata.length);
  copyBytes(rdata, 0, out, fixed + RECORD_FIXED_BYTES, rdata.length);
  return fixed + RECORD_FIXED_BYTES + rdata.length;
}
