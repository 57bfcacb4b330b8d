import { Space } from './space.js';

const CHUNK_BITS = 12;

/**
 * A record of a few words for each slot from 0, all 0 at first. Grows by whole chunks and never copies. Only the thread
 * that writes may reserve and write.
 */
export class SlotRecords {
  private readonly chunks: readonly Int32Array[];

  /**
   * @param words of a record; with a power of two most records are within one cache line (arrays are aligned to 16
   *   bytes).
   * @param space that holds nothing but these records.
   * @param chunkBits a chunk has room for 2 ** chunkBits records.
   */
  constructor(
    private readonly words: number,
    private readonly space = new Space(),
    private readonly chunkBits = CHUNK_BITS,
  ) {
    this.chunks = space.chunks;
  }

  get bytes(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  }

  /** Makes room for the records up to that of a slot. The methods below need a slot that has one. */
  reserve(slot: number): void {
    while (slot >>> this.chunkBits >= this.chunks.length) {
      this.space.add(this.words << this.chunkBits);
    }
  }

  /** The array that has the record of a slot, from `offsetOf`. */
  chunkOf(slot: number): Int32Array {
    return this.chunks[slot >>> this.chunkBits];
  }

  /** The same, to be written. */
  own(slot: number): Int32Array {
    return this.space.own(slot >>> this.chunkBits);
  }

  /** The index in `chunkOf` of the first word of the record. */
  offsetOf(slot: number): number {
    return (slot & ((1 << this.chunkBits) - 1)) * this.words;
  }

  read(slot: number, field: number): number {
    return this.chunkOf(slot)[this.offsetOf(slot) + field];
  }

  write(slot: number, field: number, word: number): void {
    this.own(slot)[this.offsetOf(slot) + field] = word;
  }
}
