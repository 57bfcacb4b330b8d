import { countAsHeap } from './heap-weight.js';
import type { TakenChunk } from './taken-chunk.js';

/** A buffer for each chunk. What is given back waits to be used again. */
export class SpareBuffers {
  /** By length. Other threads may still refer to the buffers, but do not read them. */
  private readonly spares = new Map<number, SharedArrayBuffer[]>();
  private keptBytes = 0;

  /** Memory that waits to be used again. */
  get bytes(): number {
    return this.keptBytes;
  }

  /** A buffer of any content: one that is no longer used, if there is one of that length, else a new one. */
  take(byteLength: number): TakenChunk {
    const spare = this.spares.get(byteLength)?.pop();
    if (spare !== undefined) {
      this.keptBytes -= byteLength;
      return { chunk: new Int32Array(spare), isNew: false };
    }
    const buffer = new SharedArrayBuffer(byteLength);
    countAsHeap(buffer);
    return { chunk: new Int32Array(buffer), isNew: true };
  }

  /**
   * Nobody reads or writes the buffer any more.
   * @param keeps if more bytes than these wait already, it goes to the garbage collector.
   */
  give(buffer: SharedArrayBuffer, keeps: number): void {
    const { byteLength } = buffer;
    if (this.keptBytes + byteLength > keeps) return;
    this.keptBytes += byteLength;
    const list = this.spares.get(byteLength);
    if (list === undefined) this.spares.set(byteLength, [buffer]);
    else list.push(buffer);
  }

  /** Drops buffers until no more bytes than these wait. */
  trim(keeps: number): void {
    for (const [byteLength, list] of this.spares) {
      while (this.keptBytes > keeps && list.pop() !== undefined) this.keptBytes -= byteLength;
    }
  }
}
