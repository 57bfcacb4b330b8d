import { countAsHeap } from './heap-weight.js';
import type { TakenChunk } from './taken-chunk.js';

/** So much is kept at any size of the policy. */
const LEAST_BYTES = 32 * 2 ** 20;

/** Where the chunks of policies come from, and where they go back to: each has a buffer of its own. */
export class ChunkMemory {
  /** By length. Other threads may still refer to the buffers, but do not read them. */
  private readonly spares = new Map<number, SharedArrayBuffer[]>();
  private waitingBytes = 0;
  private mostBytes = LEAST_BYTES;

  /** Memory that waits to be used again. */
  get spareBytes(): number {
    return this.waitingBytes;
  }

  /** A chunk of any content: one that is no longer used, if there is one of that length, else a new one. */
  take(byteLength: number): TakenChunk {
    const spare = this.spares.get(byteLength)?.pop();
    if (spare !== undefined) {
      this.waitingBytes -= byteLength;
      return { chunk: new Int32Array(spare), isNew: false };
    }
    const buffer = new SharedArrayBuffer(byteLength);
    countAsHeap(buffer);
    return { chunk: new Int32Array(buffer), isNew: true };
  }

  /** Nobody reads or writes the chunk any more, in any thread. It waits, or goes to the garbage collector. */
  give(chunk: Int32Array): void {
    const { byteLength } = chunk;
    if (this.waitingBytes + byteLength > this.mostBytes) return;
    this.waitingBytes += byteLength;
    const buffer = chunk.buffer as SharedArrayBuffer;
    const list = this.spares.get(byteLength);
    if (list === undefined) this.spares.set(byteLength, [buffer]);
    else list.push(buffer);
  }

  /** From now on no more spare memory than this is kept: enough for one more policy like the one in force. */
  limit(bytes: number): void {
    this.mostBytes = Math.max(bytes, LEAST_BYTES);
    for (const [byteLength, list] of this.spares) {
      while (this.waitingBytes > this.mostBytes && list.pop() !== undefined) {
        this.waitingBytes -= byteLength;
      }
    }
  }
}

/** Of policies that nobody gives memory. */
export const PLAIN_MEMORY = new ChunkMemory();
