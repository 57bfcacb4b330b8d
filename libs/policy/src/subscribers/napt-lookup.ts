import { chunkOf, wordOf } from '../memory/address.js';
import type { Space } from '../memory/space.js';
import { WordMapLookup } from '../memory/word-map-lookup.js';

/**
 * The words of a range: bounds (lower port in the high half, upper port in the low half), value, index of its parent.
 */
export const RANGE = 3;
export const BOUNDS = 0;
export const VALUE = 1;
export const PARENT = 2;

/** Searches `NaptRanges`, in any thread. */
export class NaptLookup {
  private readonly directory: WordMapLookup;
  private readonly chunks: readonly Int32Array[];
  private matchedBounds = 0;

  constructor(directory: Space, blocks: Space) {
    this.directory = new WordMapLookup(directory);
    this.chunks = blocks.chunks;
  }

  /** The lower bound of the range that the last `find` found. Undefined if it found none. */
  get matchedLowerPort(): number {
    return this.matchedBounds >>> 16;
  }

  get matchedUpperPort(): number {
    return this.matchedBounds & 0xffff;
  }

  /** Whether the address has ranges. Addresses may be signed or not. Allocates nothing. */
  has(address: number): boolean {
    return this.directory.find(address | 0) !== -1;
  }

  /**
   * The value of the narrowest range that has the port; −1: none. Addresses may be signed or not. Allocates nothing.
   */
  find(address: number, port: number): number {
    const block = this.directory.find(address | 0);
    if (block === -1) return -1;
    const chunk = this.chunks[chunkOf(block)];
    const ranges = wordOf(block) + 1;
    const count = chunk[ranges - 1];
    let low = 0;
    let high = count;
    // Where all ranges have one size and no gaps it is this one, and the others need not be read.
    const likely = (port * count) >>> 16;
    if (chunk[ranges + likely * RANGE + BOUNDS] >>> 16 <= port) {
      low = likely + 1;
      if (low < count && chunk[ranges + low * RANGE + BOUNDS] >>> 16 > port) high = low;
    } else {
      high = likely;
    }
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (chunk[ranges + middle * RANGE + BOUNDS] >>> 16 <= port) low = middle + 1;
      else high = middle;
    }
    let range = low - 1;
    while (range >= 0 && (chunk[ranges + range * RANGE + BOUNDS] & 0xffff) < port) {
      range = chunk[ranges + range * RANGE + PARENT];
    }
    if (range < 0) return -1;
    this.matchedBounds = chunk[ranges + range * RANGE + BOUNDS];
    return chunk[ranges + range * RANGE + VALUE];
  }
}
