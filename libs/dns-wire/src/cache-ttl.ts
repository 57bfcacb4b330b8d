import { readUint32 } from './bytes.js';
import { Rcode, RECORD_FIXED_BYTES, TTL_HIGH_BIT, Type } from './protocol.js';
import { endOfRecord, fixedPartOf, type Response, typeOfRecord } from './response.js';

/** Negative answers are cached no longer than this: the upper end of the range in RFC 2308 §5. */
export const MAX_NEGATIVE_TTL_SECONDS = 10_800;

/** Two root names and five numbers (RFC 1035 §3.3.13). */
const MIN_SOA_BYTES = 22;
const SOA_MINIMUM_BYTES = 4;

/** Whether and how a response may be cached. */
export const CacheKind = {
  /** Must not be cached: an error, truncated, a TTL of 0, a negative answer without SOA, a referral. */
  uncacheable: 0,
  /** Has records of the queried type. */
  positive: 1,
  /** NXDOMAIN or NODATA with the SOA record that limits its TTL (RFC 2308 §5). */
  negative: 2,
} as const;
export type CacheKind = (typeof CacheKind)[keyof typeof CacheKind];

/** Whether a response may be cached, and for how long. Filled by `read`; reused. */
export class CacheTtl {
  kind: CacheKind = CacheKind.uncacheable;
  /**
   * The lowest TTL of the answer and authority sections; for a negative answer also the MINIMUM of the SOA and
   * `MAX_NEGATIVE_TTL_SECONDS`. 0 when the response is uncacheable. Additional records may expire earlier: no answer
   * needs them.
   */
  seconds = 0;

  /** @param qtype of the question that `response` answers; not a meta type */
  read(response: Response, qtype: number): void {
    this.kind = CacheKind.uncacheable;
    this.seconds = 0;
    if (!isUsable(response)) return;
    const isPositive = response.rcode === Rcode.noError && hasAnswerOf(response, qtype);
    const bound = isPositive ? TTL_HIGH_BIT : negativeBound(response);
    const seconds = Math.min(bound, minTtl(response, leadingCount(response)));
    if (seconds === 0) return;
    this.kind = isPositive ? CacheKind.positive : CacheKind.negative;
    this.seconds = seconds;
  }
}

/**
 * Freshness lifetime of an answer for HTTP caches (RFC 8484 §5.1): the lowest TTL of the answer section; where the
 * authority section has an SOA record, at most that of a negative answer; 0 for an error.
 */
export function freshnessSeconds(response: Response): number {
  if (!isUsable(response)) return 0;
  const { rcode, answerCount } = response;
  const hasRecords = rcode === Rcode.noError && answerCount > 0;
  const bound = negativeBound(response, hasRecords ? TTL_HIGH_BIT : 0);
  const count = bound === TTL_HIGH_BIT ? answerCount : leadingCount(response);
  return Math.min(bound, minTtl(response, count));
}

/** The TTL at `offset`. A negative TTL counts as 0 (RFC 2181 §8). */
export function readTtl(bytes: Uint8Array, offset: number): number {
  const ttl = readUint32(bytes, offset);
  return ttl >= TTL_HIGH_BIT ? 0 : ttl;
}

/** NOERROR or NXDOMAIN. Any other RCODE says nothing about the name (RFC 8767 §4). */
export function hasUsableRcode(response: Response): boolean {
  return response.rcode === Rcode.noError || response.rcode === Rcode.nxDomain;
}

function isUsable(response: Response): boolean {
  return hasUsableRcode(response) && !response.isTruncated;
}

function hasAnswerOf(response: Response, qtype: number): boolean {
  for (let i = 0; i < response.answerCount; i++) {
    if (typeOfRecord(response, i) === qtype) return true;
  }
  return false;
}

/** Number of records in the answer and authority sections. */
function leadingCount({ answerCount, authorityCount }: Response): number {
  return answerCount + authorityCount;
}

/** The lowest TTL of the first `count` records; 0 for none. */
function minTtl({ bytes, ttlOffsets }: Response, count: number): number {
  let lowest = count === 0 ? 0 : TTL_HIGH_BIT;
  for (let i = 0; i < count; i++) lowest = Math.min(lowest, readTtl(bytes, ttlOffsets[i]));
  return lowest;
}

/**
 * MINIMUM of the SOA record in the authority section, capped. `minTtl` covers the TTL of the record itself.
 * @param withoutSoa what it is without such a record
 */
function negativeBound(response: Response, withoutSoa = 0): number {
  const { bytes, answerCount, authorityCount } = response;
  for (let i = answerCount; i < answerCount + authorityCount; i++) {
    const fixed = fixedPartOf(response, i);
    const end = endOfRecord(bytes, fixed);
    const isWholeSoa = end >= fixed + RECORD_FIXED_BYTES + MIN_SOA_BYTES;
    if (typeOfRecord(response, i) !== Type.soa || !isWholeSoa) continue;
    return Math.min(readTtl(bytes, end - SOA_MINIMUM_BYTES), MAX_NEGATIVE_TTL_SECONDS);
  }
  return withoutSoa;
}
