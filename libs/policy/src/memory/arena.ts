const CHUNK_BITS = 16;
/** Words of a chunk: 256 KiB. */
const CHUNK_WORDS = 1 << CHUNK_BITS;
const CHUNK_MASK = CHUNK_WORDS - 1;
/** 16 GiB. */
const MAX_CHUNKS = 2 ** (32 - CHUNK_BITS);
/** Words after each chunk that hold nothing: so far a reader may look ahead of any block without leaving its array. */
export const LOOK_AHEAD_WORDS = 64;
const NOTHING = new Int32Array(0);

/**
 * Blocks of 32-bit words. Grows by whole chunks and never copies what is there, so that growing costs the same at any size;
 * released blocks are reused by blocks of exactly their size. A block lies within one chunk; one larger than `maxBlockWords` has a
 * chunk of its own, which goes when it is released.
 *
 * An address is a signed word, below 0 from 8 GiB on; 0 is no block. Word i of a block is `chunks[chunkOf(address)][wordOf(address) + i]`.
 */
export class Arena {
  readonly chunks: Int32Array[] = [];
  /** First free block of each size; its word 0 is the address of the next. */
  private readonly freeBlocks: Int32Array;
  private readonly freeChunks: number[] = [];
  /** The part of the last chunk that was never allocated. */
  private next = 1;
  private left = CHUNK_WORDS - 1;

  constructor(private readonly maxBlockWords: number) {
    this.freeBlocks = new Int32Array(maxBlockWords + 1);
    this.addChunk(CHUNK_WORDS);
  }

  /** Memory held, in bytes. */
  get bytes(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  }

  /** A block of that size, its content undefined. @throws RangeError when addresses are used up. */
  allocate(words: number): number {
    if (words > this.maxBlockWords) return this.addChunk(words) << CHUNK_BITS;
    const free = this.freeBlocks[words];
    if (free !== 0) {
      this.freeBlocks[words] = this.chunks[chunkOf(free)][wordOf(free)];
      return free;
    }
    if (words > this.left) {
      this.next = this.addChunk(CHUNK_WORDS) << CHUNK_BITS;
      this.left = CHUNK_WORDS;
    }
    const address = this.next;
    this.next += words;
    this.left -= words;
    return address;
  }

  release(address: number, words: number): void {
    if (words > this.maxBlockWords) {
      this.chunks[chunkOf(address)] = NOTHING;
      this.freeChunks.push(chunkOf(address));
      return;
    }
    this.chunks[chunkOf(address)][wordOf(address)] = this.freeBlocks[words];
    this.freeBlocks[words] = address;
  }

  private addChunk(words: number): number {
    const chunk = new Int32Array(words + LOOK_AHEAD_WORDS);
    const number = this.freeChunks.pop();
    if (number === undefined) {
      if (this.chunks.length === MAX_CHUNKS) throw new RangeError('the memory of a policy is full');
      return this.chunks.push(chunk) - 1;
    }
    this.chunks[number] = chunk;
    return number;
  }
}

export function chunkOf(address: number): number {
  return address >>> CHUNK_BITS;
}

export function wordOf(address: number): number {
  return address & CHUNK_MASK;
}
