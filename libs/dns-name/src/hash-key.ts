/**
 * A 128-bit SipHash key: four 32-bit words, least significant first (the key's 16 bytes read as little-endian words).
 */
export interface HashKey {
  readonly words: Int32Array;
}

/**
 * The key of 32 hex digits, which are its 16 bytes in order.
 * @throws RangeError when `hex` is anything else; the message does not repeat it.
 */
export function parseHashKey(hex: string): HashKey {
  if (!/^[0-9a-fA-F]{32}$/.test(hex)) throw new RangeError('a hash key is 32 hex digits');
  const words = new Int32Array(4);
  for (let i = 0; i < 16; i++) {
    const byte = Number.parseInt(hex.slice(i * 2, i * 2 + 2), 16);
    words[i >> 2] = words[i >> 2] | (byte << ((i & 3) * 8));
  }
  return { words };
}
