import { Flag, type Query } from '@weir/dns-wire';

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
