import { type HashKey, SuffixHashes, toWireName } from '@weir/dns-name';

/**
 * Identifies a hash key without revealing it: 32 bits of the hash of a fixed name. An image compiled
 * under another key would match nothing, so nothing would be blocked.
 */
export function keyCheck(key: HashKey): number {
  const hashes = new SuffixHashes(key);
  return hashes.high[hashes.compute(toWireName('key-check.invalid'), 0) - 1];
}
