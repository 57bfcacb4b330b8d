import { chunkOf, MAX_CHUNKS, Space, startOf, wordOf } from './space.js';
import { FreeBlocks } from './free-blocks.js';

/** Unused words at the end of each chunk: a reader may prefetch this many words behind any block. */
export const LOOK_AHEAD_WORDS = 64;
/** Words of the first chunk: 256 KiB. */
export const FIRST_WORDS = 1 << 16;

/**
 * Allocates blocks of 32-bit words, each within one chunk of a space. It grows by whole chunks and never copies. Best
 * fit; a released block is joined with the free blocks beside it (STRUCTURES.md). A chunk that is one free block is
 * dropped, unless no other one has room for the largest block. A block larger than `maxBlockWords` has its own chunk.
 *
 * No block has the address 0. Word i of a block is `chunks[chunkOf(address)][wordOf(address) + i]`, and is written
 * through `own(address)`.
 */
export class Arena {
  readonly chunks: readonly Int32Array[];
  private readonly freeBlocks: FreeBlocks;
  /** For each chunk: words up to the end of the furthest block that was ever in it. The rest was never written. */
  private readonly used: number[];
  /** Words of all chunks but those of a single large block. */
  private sharedWords: number;

  /** @param space in which only this arena adds chunks from now on. */
  constructor(
    private readonly maxBlockWords: number,
    private readonly space = new Space(),
    from?: Arena,
  ) {
    this.chunks = space.chunks;
    this.freeBlocks = new FreeBlocks(space, maxBlockWords, from?.freeBlocks);
    this.used = from?.used.slice() ?? [];
    this.sharedWords = from?.sharedWords ?? 0;
    if (from === undefined) this.addSharedChunk();
  }

  /** Memory used, in bytes, with free blocks between others, and without what was never written. */
  get bytes(): number {
    return this.used.reduce((sum, words) => sum + words * 4, this.freeBlocks.bytes);
  }

  own(address: number): Int32Array {
    return this.space.own(chunkOf(address));
  }

  /** @returns the address of a block, its content undefined. @throws RangeError when all addresses are in use. */
  allocate(words: number): number {
    if (words > this.maxBlockWords) return this.addChunk(words);
    const { freeBlocks } = this;
    let freeBlock = freeBlocks.find(words);
    if (freeBlock === 0) {
      this.addSharedChunk();
      freeBlock = freeBlocks.find(words);
    }
    const address = freeBlocks.addressOf(freeBlock);
    const rest = freeBlocks.wordsOf(freeBlock) - words;
    freeBlocks.remove(freeBlock);
    if (rest > 0) freeBlocks.add(address + words, rest);
    const chunk = chunkOf(address);
    this.used[chunk] = Math.max(this.used[chunk], wordOf(address) + words);
    return address;
  }

  release(address: number, words: number): void {
    if (words > this.maxBlockWords) {
      this.dropChunk(chunkOf(address));
      return;
    }
    const { freeBlocks } = this;
    const at = wordOf(address);
    const chunkWords = this.wordsOf(chunkOf(address));
    const before = at === 0 ? 0 : freeBlocks.endingAt(address - 1);
    const behind = at + words === chunkWords ? 0 : freeBlocks.startingAt(address + words);
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
    if (size === chunkWords && freeBlocks.hasLarger) {
      this.sharedWords -= size;
      this.dropChunk(chunkOf(start));
    } else {
      freeBlocks.add(start, size);
    }
  }

  private addSharedChunk(): void {
    const wanted = Math.min(Math.max(this.sharedWords, FIRST_WORDS), this.space.chunkWords);
    const words = Math.max(wanted, 2 * this.maxBlockWords);
    const address = this.addChunk(words);
    this.used[chunkOf(address)] = 0;
    this.sharedWords += words;
    // The address 0 is that of no block.
    const first = address === 0 ? 1 : address;
    this.freeBlocks.add(first, address + words - first);
  }

  private addChunk(words: number): number {
    const number = this.space.nextNumber;
    if (number === MAX_CHUNKS) throw new RangeError('the memory of a policy is full');
    this.space.add(words + LOOK_AHEAD_WORDS);
    this.used[number] = words;
    return startOf(number);
  }

  private dropChunk(number: number): void {
    this.space.drop(number);
    this.used[number] = 0;
  }

  private wordsOf(chunk: number): number {
    return this.chunks[chunk].length - LOOK_AHEAD_WORDS;
  }
}
