import { readUint16, readUint32 } from './bytes.js';
import { Rcode, RECORD_FIXED_BYTES, TTL_HIGH_BIT, Type } from './protocol.js';
import type { Response } from './response.js';

/** Longest that a negative answer is kept: the upper end of what RFC 2308 §5 finds sensible. */
export const MAX_NEGATIVE_TTL_SECONDS = 10_800;

/** Offset of the type before that of the TTL, and of the rdata's length after it. */
const TYPE_BEFORE_TTL = 4;
const RDLENGTH_AFTER_TTL = 4;
const RDATA_AFTER_TTL = RECORD_FIXED_BYTES - TYPE_BEFORE_TTL;
/** Two root names and five numbers (RFC 1035 §3.3.13). */
const MIN_SOA_BYTES = 22;
const SOA_MINIMUM_BYTES = 4;

/** How a response may be kept. */
export const CacheKind = {
  /** Not at all: an error, truncated, a TTL of 0, a negative answer without SOA, a referral. */
  uncacheable: 0,
  /** Has records of the type that was asked for. */
  positive: 1,
  /** NXDOMAIN or NODATA with the SOA record that bounds its life (RFC 2308 §5). */
  negative: 2,
} as const;
export type CacheKind = (typeof CacheKind)[keyof typeof CacheKind];

/** For how long a response stays true; filled by `read`. Reused. */
export class CacheTtl {
  kind: CacheKind = CacheKind.uncacheable;
  /** The least TTL of all records; for a negative answer also the SOA's minimum and `MAX_NEGATIVE_TTL_SECONDS`. 0 when it is not to be kept. */
  seconds = 0;

  /** @param qtype of the question that `response` answers, no meta type */
  read(response: Response, qtype: number): void {
    const isNxDomain = response.rcode === Rcode.nxDomain;
    const isUsable = (response.rcode === Rcode.noError || isNxDomain) && !response.isTruncated;
    this.kind = CacheKind.uncacheable;
    this.seconds = 0;
    if (!isUsable) return;
    const isPositive = !isNxDomain && hasAnswerOf(response, qtype);
    const bound = isPositive ? TTL_HIGH_BIT : negativeBound(response);
    const seconds = Math.min(bound, minTtl(response, response.ttlCount));
    if (seconds === 0) return;
    this.kind = isPositive ? CacheKind.positive : CacheKind.negative;
    this.seconds = seconds;
  }
}

/**
 * Seconds for which a cache of HTTP may keep an answer (RFC 8484 §5.1): the least TTL of its answer section or, where that is
 * empty, of what says so; 0 for an error.
 */
export function freshnessSeconds(response: Response): number {
  if (!hasUsableRcode(response) || response.isTruncated) return 0;
  const isPositive = response.rcode === Rcode.noError && response.answerCount > 0;
  if (isPositive) return minTtl(response, response.answerCount);
  return Math.min(negativeBound(response), minTtl(response, response.ttlCount));
}

/** TTL at `offset`; one that is negative is 0 (RFC 2181 §8). */
export function readTtl(bytes: Uint8Array, offset: number): number {
  const ttl = readUint32(bytes, offset);
  return ttl >= TTL_HIGH_BIT ? 0 : ttl;
}

/** Whether the response says that the name does not exist or could be resolved: what else is no news about it (RFC 8767 §4). */
export function hasUsableRcode(response: Response): boolean {
  return response.rcode === Rcode.noError || response.rcode === Rcode.nxDomain;
}

function hasAnswerOf({ bytes, ttlOffsets, answerCount }: Response, qtype: number): boolean {
  for (let i = 0; i < answerCount; i++) {
    if (readUint16(bytes, ttlOffsets[i] - TYPE_BEFORE_TTL) === qtype) return true;
  }
  return false;
}

/** Of the first `count` records; 0 for none. */
function minTtl({ bytes, ttlOffsets }: Response, count: number): number {
  let least = count === 0 ? 0 : TTL_HIGH_BIT;
  for (let i = 0; i < count; i++) least = Math.min(least, readTtl(bytes, ttlOffsets[i]));
  return least;
}

/** MINIMUM of the authority section's SOA record, bounded; 0 without one. Its TTL is among those of `minTtl`. */
function negativeBound(response: Response): number {
  const { bytes, ttlOffsets, answerCount, authorityCount } = response;
  for (let i = answerCount; i < answerCount + authorityCount; i++) {
    const ttlAt = ttlOffsets[i];
    const size = readUint16(bytes, ttlAt + RDLENGTH_AFTER_TTL);
    if (readUint16(bytes, ttlAt - TYPE_BEFORE_TTL) !== Type.soa || size < MIN_SOA_BYTES) continue;
    const minimumAt = ttlAt + RDATA_AFTER_TTL + size - SOA_MINIMUM_BYTES;
    return Math.min(readTtl(bytes, minimumAt), MAX_NEGATIVE_TTL_SECONDS);
  }
  return 0;
}
