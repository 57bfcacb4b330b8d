import { EMPTY } from '../image/image-format.js';
import type { StoredImage } from './stored-image.js';

/** Slots that are read at a time: 1 MiB of hashes, and 256 KiB of set numbers. */
export const BLOCK_SLOTS = 128 * 1024;

/** Goes through the names of a stored image, ascending by hash. A block of slots is in memory. */
export class NameCursor {
  /** The current name, after `seek` has returned true. */
  high = 0;
  low = 0;
  setNumber = 0;
  private hashes = new Uint32Array();
  private setNumbers: Uint16Array | Uint32Array = new Uint16Array();
  /** Within the block. */
  private slot = 0;
  private nextBlock = 0;

  constructor(private readonly image: StoredImage) {}

  /** Whether the block is the last one. */
  get isLastBlock(): boolean {
    return this.nextBlock >= this.image.field('slotCount');
  }

  /** Reads the next block. The one before must have ended. */
  async loadBlock(): Promise<void> {
    const { image, nextBlock } = this;
    const count = Math.min(BLOCK_SLOTS, image.field('slotCount') - nextBlock);
    this.hashes = await image.readWords(image.field('hashesOffset') + nextBlock * 8, count * 2);
    this.setNumbers = await image.readSetNumbers(nextBlock, count);
    this.nextBlock += count;
    this.slot = 0;
  }

  /** Finds the current name. @returns false at the end of the block. */
  seek(): boolean {
    const { hashes, setNumbers } = this;
    for (; this.slot < setNumbers.length; this.slot++) {
      this.low = hashes[this.slot * 2 + 1];
      this.high = hashes[this.slot * 2];
      if (this.high === EMPTY && this.low === EMPTY) continue;
      this.setNumber = setNumbers[this.slot];
      return true;
    }
    return false;
  }

  /** Leaves the current name. */
  advance(): void {
    this.slot++;
  }
}
