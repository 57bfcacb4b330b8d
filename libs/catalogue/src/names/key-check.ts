import { type HashKey, SuffixHashes, toWireName } from '@weir/dns-name';

/**
 * Tells one hash key from another without telling the key: 32 bits of the hash of a fixed name. An image compiled under another
 * key would match nothing, and no filter would work.
 */
export function keyCheck(key: HashKey): number {
  const hashes = new SuffixHashes(key);
  return hashes.high[hashes.compute(toWireName('key-check.invalid'), 0) - 1];
}
