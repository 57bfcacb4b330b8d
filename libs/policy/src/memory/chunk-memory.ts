import { countAsHeap } from './heap-weight.js';

/** So much is kept at any size of the policy. */
const LEAST_BYTES = 32 * 2 ** 20;
/**
 * Large chunks are parts of buffers of this size: four huge pages of 2 MiB for eight chunks, and a little more, because
 * a chunk of an arena is slightly longer than 1 MiB.
 */
export const SLAB_BYTES = 8 * 2 ** 20 + 2 ** 16;
/** Smaller chunks have a buffer of their own: a huge page would make all of it real, and most is never written. */
const LEAST_PART_BYTES = 2 ** 20;
const NOTHING = new Int32Array(0);

interface TakenChunk {
  readonly chunk: Int32Array;
  /** All words are 0. Otherwise they are anything. */
  readonly isNew: boolean;
}

export class ChunkMemory {
  /** By length. Other threads may still refer to the buffers, but do not read them. */
  private readonly spares = new Map<number, Int32Array[]>();
  /** Memory that waits to be used again. */
  spareBytes = 0;
  private mostBytes = LEAST_BYTES;
  private rest: Int32Array = NOTHING;

  /** @param prepareSlab is given each new slab before it is written, for example to ask for huge pages. */
  constructor(private readonly prepareSlab?: (slab: Uint8Array) => void) {}

  /** A chunk of any content: one that is no longer used, if there is one of that length, else a new one. */
  take(byteLength: number): TakenChunk {
    const spare = this.spares.get(byteLength)?.pop();
    if (spare !== undefined) {
      this.spareBytes -= byteLength;
      return { chunk: new Int32Array(spare.buffer, spare.byteOffset, spare.length), isNew: false };
    }
    const isPart = byteLength >= LEAST_PART_BYTES;
    return { chunk: isPart ? this.takePart(byteLength) : newWords(byteLength), isNew: true };
  }

  /** Nobody reads or writes the chunk any more, in any thread. It waits, or goes to the garbage collector. */
  give(chunk: Int32Array): void {
    const { byteLength } = chunk;
    if (this.spareBytes + byteLength > this.mostBytes) return;
    this.spareBytes += byteLength;
    this.spares.getOrInsert(byteLength, []).push(chunk);
  }

  /** From now on no more spare memory than this is kept: enough for one more policy like the one in force. */
  limit(bytes: number): void {
    this.mostBytes = Math.max(bytes, LEAST_BYTES);
    for (const [byteLength, list] of this.spares) {
      while (this.spareBytes > this.mostBytes && list.pop() !== undefined) {
        this.spareBytes -= byteLength;
      }
    }
  }

  private takePart(byteLength: number): Int32Array {
    if (this.rest.byteLength < byteLength) {
      this.rest = newWords(Math.max(SLAB_BYTES, byteLength));
      this.prepareSlab?.(new Uint8Array(this.rest.buffer));
    }
    const words = byteLength / Int32Array.BYTES_PER_ELEMENT;
    const part = this.rest.subarray(0, words);
    this.rest = this.rest.subarray(words);
    return part;
  }
}

function newWords(byteLength: number): Int32Array {
  const buffer = new SharedArrayBuffer(byteLength);
  countAsHeap(buffer);
  return new Int32Array(buffer);
}

/** Of policies that nobody gives memory. */
export const PLAIN_MEMORY = new ChunkMemory();
