import {
  Flag,
  Query,
  copyBytes,
  HEADER_BYTES,
  MAX_NAME_BYTES,
  QUESTION_FIXED_BYTES,
} from '@weir/dns-wire';
import type { SuffixHashes } from '@weir/dns-name';

/**
 * What identifies a question: the parsed query with its bytes, and the keyed hash of the whole qname as two signed
 * words.
 */
export interface Question {
  readonly bytes: Uint8Array;
  readonly query: Query;
  readonly nameHashLow: number;
  readonly nameHashHigh: number;
}

const DNSSEC_OK_KEY = 1;
const CHECKING_DISABLED_KEY = 2;

/**
 * What tells two questions about one name apart, as one number: type, DO and CD. At most 18 bits, so never negative.
 */
export function questionKey({ qtype, dnssecOk, flags }: Query): number {
  const isUnchecked = (flags & Flag.cd) !== 0;
  return (qtype << 2) | (dnssecOk ? DNSSEC_OK_KEY : 0) | (isUnchecked ? CHECKING_DISABLED_KEY : 0);
}

/** The key for what holds for all types of a name, per DO and CD: that of type 0, which cannot be queried. */
export function nameKey(query: Query): number {
  return questionKey(query) & (DNSSEC_OK_KEY | CHECKING_DISABLED_KEY);
}

/** Whether the key holds for all types of a name. */
export function isNameKey(key: number): boolean {
  return key <= (DNSSEC_OK_KEY | CHECKING_DISABLED_KEY);
}

/** An odd multiplier, so that the keys of one name get different tags. */
const SPREAD = 0x9e37_79b1;

/**
 * A 32-bit hash of a question (signed), for hash tables. The name hash is keyed, so clients cannot provoke collisions.
 */
export function questionTag(nameHashLow: number, key: number): number {
  return nameHashLow ^ Math.imul(key, SPREAD);
}

/** A question that is not the one of a client's query, but for another name. Reused; allocates nothing. */
export class OwnQuestion implements Question {
  readonly bytes = new Uint8Array(HEADER_BYTES + MAX_NAME_BYTES + QUESTION_FIXED_BYTES);
  readonly query = new Query();
  nameHashLow = 0;
  nameHashHigh = 0;

  /**
   * Becomes the question of `other` for another name.
   * @param name a wire name other than the root
   * @param hashes of its suffixes
   */
  setName(other: Question, name: Uint8Array, hashes: SuffixHashes): void {
    const { bytes, query } = this;
    const otherFixed = other.query.questionEnd - QUESTION_FIXED_BYTES;
    const fixed = HEADER_BYTES + name.length;
    copyBytes(name, 0, bytes, HEADER_BYTES, name.length);
    copyBytes(other.bytes, otherFixed, bytes, fixed, QUESTION_FIXED_BYTES);
    query.copyFrom(other.query);
    query.questionEnd = fixed + QUESTION_FIXED_BYTES;
    this.nameHashLow = hashes.low[hashes.count - 1] | 0;
    this.nameHashHigh = hashes.high[hashes.count - 1] | 0;
  }

  copyFrom(other: Question): void {
    copyBytes(other.bytes, 0, this.bytes, 0, other.query.questionEnd);
    this.query.copyFrom(other.query);
    this.nameHashLow = other.nameHashLow;
    this.nameHashHigh = other.nameHashHigh;
  }
}
