import type { HugePages } from './huge-pages.js';
import { Slabs } from './slabs.js';
import { SpareBuffers } from './spare-buffers.js';
import type { TakenChunk } from './taken-chunk.js';

/** So much is kept at any size of the policy. */
const LEAST_BYTES = 32 * 2 ** 20;

/**
 * The first chunks of a structure have a buffer each: they are small, and mostly empty in a small configuration. A huge
 * page is real as a whole.
 */
const SMALL_CHUNKS = 4;

/** Where the chunks of policies come from, and where they go back to. */
export class ChunkMemory {
  private readonly buffers = new SpareBuffers();
  private readonly slabs: Slabs | null;
  private mostBytes = LEAST_BYTES;

  /**
   * @param hugePages without them each chunk has a buffer of its own.
   * @param smallChunks so many chunks of a structure have that in any case.
   */
  constructor(
    hugePages: HugePages | null = null,
    private readonly smallChunks = SMALL_CHUNKS,
  ) {
    this.slabs = hugePages && new Slabs(hugePages);
  }

  /** Memory that waits to be used again. */
  get spareBytes(): number {
    return this.buffers.bytes + (this.slabs?.spareBytes ?? 0);
  }

  /** Memory in pages that were asked to be huge. */
  get hugeBytes(): number {
    return this.slabs?.realBytes ?? 0;
  }

  /** @param number of the chunk in its structure, from 0. */
  take(byteLength: number, number: number): TakenChunk {
    const taken = number < this.smallChunks ? null : this.slabs?.take(byteLength);
    return taken ?? this.buffers.take(byteLength);
  }

  /** Nobody reads or writes the chunk any more, in any thread. */
  give(chunk: Int32Array): void {
    const { buffer } = chunk;
    if (isPart(chunk)) this.slabs?.give(chunk, this.mostBytes - this.buffers.bytes);
    else this.buffers.give(buffer as SharedArrayBuffer, this.mostBytes - this.slabBytes);
  }

  /** From now on no more spare memory than this is kept: enough for one more policy like the one in force. */
  limit(bytes: number): void {
    this.mostBytes = Math.max(bytes, LEAST_BYTES);
    this.slabs?.trim(this.mostBytes - this.buffers.bytes);
    this.buffers.trim(this.mostBytes - this.slabBytes);
  }

  /** Makes ready what the next change may need, so that it keeps nobody waiting for the kernel. */
  prepare(): void {
    this.slabs?.prepare();
  }

  private get slabBytes(): number {
    return this.slabs?.spareBytes ?? 0;
  }
}

/** Of policies that nobody gives memory. */
export const PLAIN_MEMORY = new ChunkMemory();

/** Bytes of the buffer of a chunk; 0: it is a part of a larger one, which stays. */
export function bufferBytesOf(chunk: Int32Array): number {
  return isPart(chunk) ? 0 : chunk.byteLength;
}

function isPart(chunk: Int32Array): boolean {
  return chunk.byteLength < chunk.buffer.byteLength;
}
