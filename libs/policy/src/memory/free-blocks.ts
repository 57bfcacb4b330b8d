import { chunkOf, Space, wordOf } from './space.js';
import { SlotRecords } from './slot-records.js';

const RECORD_WORDS = 4;
/** The address of the first word of the free block; 0: the record is not in use. */
const ADDRESS = 0;
const WORDS = 1;
/** The next and the previous free block in the list of its size; 0: none. Of an unused record, the next unused one. */
const NEXT = 2;
const PREVIOUS = 3;
/** Records come 512 at a time, 8 KiB. */
const RECORD_CHUNK_BITS = 9;

/**
 * The free blocks of an arena, by size (segregated free lists) and by address (boundary tags).
 *
 * A free block is known by the number of its record, from 1; 0 is none. Its first and its last word hold this number,
 * so that a block which is released beside it can find it. An allocated block may hold the same word by chance: the
 * number counts only if the record names this address. There is a list for each size, the latest first, and one for
 * all sizes above that of the largest block.
 */
export class FreeBlocks {
  private readonly recordSpace: Space;
  private readonly records: SlotRecords;
  /** Records so far, used or not, with the one for 0. */
  private recordCount: number;
  private unusedRecord: number;
  /** The first free block of each size. The last entry is for all larger ones. */
  private readonly first: Int32Array;
  /** A bit for each entry of `first` that is not 0. */
  private readonly present: Int32Array;

  constructor(
    private readonly space: Space,
    maxBlockWords: number,
    from?: FreeBlocks,
  ) {
    this.recordSpace = from?.recordSpace.forkFor(space.fork) ?? new Space();
    this.records = new SlotRecords(RECORD_WORDS, this.recordSpace, RECORD_CHUNK_BITS);
    this.recordCount = from?.recordCount ?? 1;
    this.unusedRecord = from?.unusedRecord ?? 0;
    this.first = from?.first.slice() ?? new Int32Array(maxBlockWords + 2);
    this.present = from?.present.slice() ?? new Int32Array((this.first.length + 31) >>> 5);
  }

  get bytes(): number {
    return this.records.bytes + this.first.byteLength + this.present.byteLength;
  }

  get hasLarger(): boolean {
    return this.first[this.first.length - 1] !== 0;
  }

  addressOf(freeBlock: number): number {
    return this.records.read(freeBlock, ADDRESS);
  }

  wordsOf(freeBlock: number): number {
    return this.records.read(freeBlock, WORDS);
  }

  /** The smallest free block of at least this many words; 0: there is none. */
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

  /** The free block whose first word is at this address; 0: none. */
  startingAt(address: number): number {
    const freeBlock = this.recordNumberAt(address);
    return freeBlock !== 0 && this.addressOf(freeBlock) === address ? freeBlock : 0;
  }

  /** The free block whose last word is at this address; 0: none. */
  endingAt(address: number): number {
    const freeBlock = this.recordNumberAt(address);
    if (freeBlock === 0) return 0;
    const start = this.addressOf(freeBlock);
    return start !== 0 && start + this.wordsOf(freeBlock) - 1 === address ? freeBlock : 0;
  }

  add(address: number, words: number): void {
    const freeBlock = this.takeRecord();
    const chunk = this.space.own(chunkOf(address));
    const start = wordOf(address);
    chunk[start] = freeBlock;
    chunk[start + words - 1] = freeBlock;
    const size = this.sizeOf(words);
    const next = this.first[size];
    if (next !== 0) this.records.write(next, PREVIOUS, freeBlock);
    this.setFirst(size, freeBlock);
    const record = this.records.own(freeBlock);
    const at = this.records.offsetOf(freeBlock);
    record[at + ADDRESS] = address;
    record[at + WORDS] = words;
    record[at + NEXT] = next;
    record[at + PREVIOUS] = 0;
  }

  remove(freeBlock: number): void {
    const record = this.records.own(freeBlock);
    const at = this.records.offsetOf(freeBlock);
    const words = record[at + WORDS];
    const next = record[at + NEXT];
    const previous = record[at + PREVIOUS];
    if (next !== 0) this.records.write(next, PREVIOUS, previous);
    if (previous === 0) this.setFirst(this.sizeOf(words), next);
    else this.records.write(previous, NEXT, next);
    record[at + ADDRESS] = 0;
    record[at + NEXT] = this.unusedRecord;
    this.unusedRecord = freeBlock;
  }

  private setFirst(size: number, freeBlock: number): void {
    this.first[size] = freeBlock;
    const bit = 1 << (size & 31);
    if (freeBlock === 0) this.present[size >>> 5] &= ~bit;
    else this.present[size >>> 5] |= bit;
  }

  /** The number at this address, if it can be that of a record; 0: it cannot. */
  private recordNumberAt(address: number): number {
    const word = this.space.chunks[chunkOf(address)][wordOf(address)];
    return word > 0 && word < this.recordCount ? word : 0;
  }

  private takeRecord(): number {
    const { unusedRecord } = this;
    if (unusedRecord !== 0) {
      this.unusedRecord = this.records.read(unusedRecord, NEXT);
      return unusedRecord;
    }
    this.records.reserve(this.recordCount);
    return this.recordCount++;
  }

  /** The index in `first` for a size. */
  private sizeOf(words: number): number {
    return Math.min(words, this.first.length - 1);
  }
}
