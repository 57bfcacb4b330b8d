import type { HashKey } from './hash-key.js';
import { SuffixHashes } from './suffix-hashes.js';
import { toWireName } from './wire-name.js';

/** The high bits that remain when 64 bits are cut to 53 (decisions §4). */
const HIGH_BITS_OF_53 = 0x1f_ffff;
const TWO_TO_32 = 4_294_967_296;

/** One hasher for each key: a batch hashes many domains under the same key. */
const hashers = new WeakMap<HashKey, SuffixHashes>();

/**
 * The stored form of a domain: SipHash-2-4 of its labels from the root down, cut to the low 53 bits (decisions §4, §8).
 * @param normalised as `normaliseDomain` gives it.
 */
export function hashDomain(normalised: string, key: HashKey): number {
  let hashes = hashers.get(key);
  if (hashes === undefined) {
    hashes = new SuffixHashes(key);
    hashers.set(key, hashes);
  }
  const last = hashes.compute(toWireName(normalised), 0) - 1;
  return cutHash(hashes.low[last], hashes.high[last]);
}

/** The stored form of a hash of 64 bits, given as two unsigned words: its low 53 bits. */
export function cutHash(low: number, high: number): number {
  return (high & HIGH_BITS_OF_53) * TWO_TO_32 + low;
}
