/*
 * Bit arithmetic of the prefix tree. A node at position p stores the prefixes of length p + 1 … p + 4 (p = 0 also
 * length 0). Each has a heap index: a prefix with d bits b beyond position p has (1 << d) | b; without such bits it
 * is 1. So longer prefixes have higher indices.
 */

/** The position of the node that stores prefixes of that length. */
export function nodePosition(length: number): number {
  return length === 0 ? 0 : (length - 1) & ~3;
}

export function heapIndex(words: ArrayLike<number>, position: number, length: number): number {
  const bits = length - position;
  return (1 << bits) | (nibbleAt(words[position >>> 5], position) >>> (4 - bits));
}

/** The four bits at `position` of the address, given the word that holds them. */
export function nibbleAt(word: number, position: number): number {
  return (word >>> (28 - (position & 31))) & 15;
}

/** Whether the first `bits` bits of the key at `keyAt` and of the address are the same. */
export function matchesPrefix(
  keys: Int32Array,
  keyAt: number,
  words: Uint32Array,
  bits: number,
): boolean {
  let word = 0;
  for (; bits >= 32; bits -= 32, word++) {
    if ((keys[keyAt + word] ^ words[word]) !== 0) return false;
  }
  return bits === 0 || (keys[keyAt + word] ^ words[word]) >>> (32 - bits) === 0;
}

/** How many leading bits the key at `keyAt` and the address have in common, at most `limit`. */
export function commonBits(
  keys: Int32Array,
  keyAt: number,
  words: Uint32Array,
  limit: number,
): number {
  for (let word = 0; word * 32 < limit; word++) {
    const difference = keys[keyAt + word] ^ words[word];
    if (difference !== 0) return Math.min(word * 32 + Math.clz32(difference), limit);
  }
  return limit;
}

export function popCount(bits: number): number {
  let n = bits - ((bits >>> 1) & 0x5555_5555);
  n = (n & 0x3333_3333) + ((n >>> 2) & 0x3333_3333);
  return Math.imul((n + (n >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}

/** How many bits a prefix with that heap index has beyond the position of its node. */
export function heapLength(index: number): number {
  return 31 - Math.clz32(index);
}

/** Appends the bits of a heap index to a key that is masked to `position` bits. */
export function appendHeapBits(key: Int32Array, position: number, index: number): void {
  const length = heapLength(index);
  const bits = index & ~(1 << length);
  key[position >>> 5] |= bits << (32 - (position & 31) - length);
}
