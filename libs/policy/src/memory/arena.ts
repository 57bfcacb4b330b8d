import { CHUNK_WORDS, chunkOf, MAX_CHUNKS, startOf, wordOf } from './address.js';
import { FreeBlocks } from './free-blocks.js';

export { chunkOf, wordOf };

/** Unused words at the end of each chunk: a reader may prefetch so many words behind any block. */
export const LOOK_AHEAD_WORDS = 64;
const NOTHING = new Int32Array(0);

/**
 * Allocates blocks of 32-bit words, each within one chunk. It grows by whole chunks and never copies, so growing
 * costs the same at any size.
 *
 * Best fit: a block is cut from the smallest free block that is large enough. A released block is joined with the
 * free blocks before and behind it. A chunk that is one free block is dropped, unless no other one has room for the
 * largest block. A block larger than `maxBlockWords` has its own chunk, which is dropped when the block is released.
 *
 * No block has the address 0. Word i of a block is `chunks[chunkOf(address)][wordOf(address) + i]`.
 */
export class Arena {
  readonly chunks: Int32Array[] = [];
  private readonly freeChunks: number[] = [];
  private readonly freeBlocks: FreeBlocks;

  constructor(private readonly maxBlockWords: number) {
    this.freeBlocks = new FreeBlocks(this.chunks, maxBlockWords);
    this.addChunk(CHUNK_WORDS);
    this.freeBlocks.add(1, CHUNK_WORDS - 1);
  }

  /** Memory held, in bytes. */
  get bytes(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.byteLength, this.freeBlocks.bytes);
  }

  /** @returns the address of a block, its content undefined. @throws RangeError when all addresses are in use. */
  allocate(words: number): number {
    if (words > this.maxBlockWords) return this.addChunk(words);
    const { freeBlocks } = this;
    let freeBlock = freeBlocks.find(words);
    if (freeBlock === 0) {
      freeBlocks.add(this.addChunk(CHUNK_WORDS), CHUNK_WORDS);
      freeBlock = freeBlocks.find(words);
    }
    const address = freeBlocks.addressOf(freeBlock);
    const rest = freeBlocks.wordsOf(freeBlock) - words;
    freeBlocks.remove(freeBlock);
    if (rest > 0) freeBlocks.add(address + words, rest);
    return address;
  }

  release(address: number, words: number): void {
    if (words > this.maxBlockWords) {
      this.dropChunk(chunkOf(address));
      return;
    }
    const { freeBlocks } = this;
    const at = wordOf(address);
    const before = at === 0 ? 0 : freeBlocks.endingAt(address - 1);
    const behind = at + words === CHUNK_WORDS ? 0 : freeBlocks.startingAt(address + words);
    let start = address;
    let size = words;
    if (before !== 0) {
      start = freeBlocks.addressOf(before);
      size += freeBlocks.wordsOf(before);
      freeBlocks.remove(before);
    }
    if (behind !== 0) {
      size += freeBlocks.wordsOf(behind);
      freeBlocks.remove(behind);
    }
    if (size === CHUNK_WORDS && freeBlocks.hasLarger) this.dropChunk(chunkOf(start));
    else freeBlocks.add(start, size);
  }

  /** @returns the address of its first word. */
  private addChunk(words: number): number {
    const chunk = new Int32Array(words + LOOK_AHEAD_WORDS);
    const number = this.freeChunks.pop();
    if (number === undefined) {
      if (this.chunks.length === MAX_CHUNKS) throw new RangeError('the memory of a policy is full');
      return startOf(this.chunks.push(chunk) - 1);
    }
    this.chunks[number] = chunk;
    return startOf(number);
  }

  private dropChunk(number: number): void {
    this.chunks[number] = NOTHING;
    this.freeChunks.push(number);
  }
}
