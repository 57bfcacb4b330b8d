/*
 * An address names a word of an arena. Its high bits are the number of a chunk, its low bits the index of the word in
 * that chunk. It is a signed 32-bit word: from chunk 8192 on it is negative.
 */

const CHUNK_BITS = 18;
/** Words of the largest chunk for blocks: 1 MiB. A block with a chunk of its own may be longer. */
export const CHUNK_WORDS = 1 << CHUNK_BITS;
const CHUNK_MASK = CHUNK_WORDS - 1;
/** 16 GiB. */
export const MAX_CHUNKS = 2 ** (32 - CHUNK_BITS);

export function chunkOf(address: number): number {
  return address >>> CHUNK_BITS;
}

export function wordOf(address: number): number {
  return address & CHUNK_MASK;
}

/** The address of the first word of a chunk. */
export function startOf(chunk: number): number {
  return chunk << CHUNK_BITS;
}
