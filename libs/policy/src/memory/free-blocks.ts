import { chunkOf, wordOf } from './address.js';
import { SlotRecords } from './slot-records.js';

/** Words of a record, and what they are. */
const RECORD_WORDS = 4;
/** Of a free block's first word; 0: the record is spare. */
const ADDRESS = 0;
const WORDS = 1;
/** The next and the previous free block in the list of its size, of a spare record the next of these; 0: there is none. */
const NEXT = 2;
const PREVIOUS = 3;
/** Records come 512 at a time, 8 KiB. */
const RECORD_CHUNK_BITS = 9;

/**
 * The parts of an arena's chunks that hold no block, by size and by place.
 *
 * A free block is a number from 1, that of its record; 0 is no free block. It stands in the free block's first word and in its last, where whoever releases a block
 * before or behind it finds it. A block may hold the same word by chance: so it is believed only when the record names that very place.
 * Free blocks of a size are a list, the latest first, and all that are larger than any block are one.
 */
export class FreeBlocks {
  private readonly records = new SlotRecords(RECORD_WORDS, RECORD_CHUNK_BITS);
  /** Records that ever were, with the one for 0. */
  private recordCount = 1;
  private spare = 0;
  /** The first free block of each size; the last entry: of those that are larger. */
  private readonly first: Int32Array;
  /** A bit for each entry of `first` that is not 0. */
  private readonly present: Int32Array;
  private sum = 0;

  constructor(
    private readonly chunks: readonly Int32Array[],
    maxBlockWords: number,
  ) {
    this.first = new Int32Array(maxBlockWords + 2);
    this.present = new Int32Array((this.first.length + 31) >>> 5);
  }

  /** Words of all free blocks. */
  get words(): number {
    return this.sum;
  }

  /** Memory held to know them, in bytes. */
  get bytes(): number {
    return this.records.bytes + this.first.byteLength + this.present.byteLength;
  }

  /** Whether one is larger than any block. */
  get hasLarger(): boolean {
    return this.first[this.first.length - 1] !== 0;
  }

  addressOf(freeBlock: number): number {
    return this.records.read(freeBlock, ADDRESS);
  }

  wordsOf(freeBlock: number): number {
    return this.records.read(freeBlock, WORDS);
  }

  /** The smallest that has so many words; 0: there is none. */
  find(words: number): number {
    let at = words >>> 5;
    let sizes = this.present[at] & (-1 << (words & 31));
    while (sizes === 0) {
      at++;
      if (at === this.present.length) return 0;
      sizes = this.present[at];
    }
    return this.first[(at << 5) + 31 - Math.clz32(sizes & -sizes)];
  }

  /** The one whose first word is at an address; 0: none is. */
  startingAt(address: number): number {
    const freeBlock = this.claimAt(address);
    return freeBlock !== 0 && this.addressOf(freeBlock) === address ? freeBlock : 0;
  }

  /** The one whose last word is at an address; 0: none is. */
  endingAt(address: number): number {
    const freeBlock = this.claimAt(address);
    if (freeBlock === 0) return 0;
    const start = this.addressOf(freeBlock);
    return start !== 0 && start + this.wordsOf(freeBlock) - 1 === address ? freeBlock : 0;
  }

  add(address: number, words: number): void {
    const freeBlock = this.takeRecord();
    const chunk = this.chunks[chunkOf(address)];
    const start = wordOf(address);
    chunk[start] = freeBlock;
    chunk[start + words - 1] = freeBlock;
    const size = this.sizeOf(words);
    const next = this.first[size];
    if (next !== 0) this.records.write(next, PREVIOUS, freeBlock);
    this.setFirst(size, freeBlock);
    const record = this.records.chunkOf(freeBlock);
    const at = this.records.offsetOf(freeBlock);
    record[at + ADDRESS] = address;
    record[at + WORDS] = words;
    record[at + NEXT] = next;
    record[at + PREVIOUS] = 0;
    this.sum += words;
  }

  remove(freeBlock: number): void {
    const record = this.records.chunkOf(freeBlock);
    const at = this.records.offsetOf(freeBlock);
    const words = record[at + WORDS];
    const next = record[at + NEXT];
    const previous = record[at + PREVIOUS];
    if (next !== 0) this.records.write(next, PREVIOUS, previous);
    if (previous === 0) this.setFirst(this.sizeOf(words), next);
    else this.records.write(previous, NEXT, next);
    record[at + ADDRESS] = 0;
    record[at + NEXT] = this.spare;
    this.spare = freeBlock;
    this.sum -= words;
  }

  private setFirst(size: number, freeBlock: number): void {
    this.first[size] = freeBlock;
    const bit = 1 << (size & 31);
    if (freeBlock === 0) this.present[size >>> 5] &= ~bit;
    else this.present[size >>> 5] |= bit;
  }

  /** What the word at an address says if it is the first or the last of a free block; 0: no free block has such a number. */
  private claimAt(address: number): number {
    const word = this.chunks[chunkOf(address)][wordOf(address)];
    return word > 0 && word < this.recordCount ? word : 0;
  }

  private takeRecord(): number {
    const { spare } = this;
    if (spare !== 0) {
      this.spare = this.records.read(spare, NEXT);
      return spare;
    }
    this.records.reserve(this.recordCount);
    return this.recordCount++;
  }

  /** Where in `first` a free block belongs. */
  private sizeOf(words: number): number {
    return Math.min(words, this.first.length - 1);
  }
}
