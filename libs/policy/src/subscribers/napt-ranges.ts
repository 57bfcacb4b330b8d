import { chunkOf, type Space, wordOf } from '../memory/space.js';
import { Arena } from '../memory/arena.js';
import { WordMap, WordMapLookup } from '../memory/word-map.js';

/**
 * The words of a range: bounds (lower port in the high half, upper port in the low half), value, index of its parent.
 */
const RANGE = 3;
const BOUNDS = 0;
const VALUE = 1;
const PARENT = 2;

/** Searches `NaptRanges`, in any thread. */
export class NaptLookup {
  /** Of the range that the last `find` found: the lower port in the high half, the upper port in the low half. */
  matchedBounds = 0;
  private readonly directory: WordMapLookup;
  private readonly chunks: readonly Int32Array[];

  constructor(directory: Space, blocks: Space) {
    this.directory = new WordMapLookup(directory);
    this.chunks = blocks.chunks;
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

/** Larger blocks, for addresses with more than 5461 ranges, have their own chunk. */
const MAX_BLOCK_WORDS = 16_384;

/**
 * The port ranges of shared addresses. Ranges of one address nest (decisions §3); the narrowest that has the port
 * wins. An address has one block: the number of its ranges, then the ranges in ascending order of the lower port, the
 * wider first. So the ranges around a range, the next of which is its parent (−1: none), come before it.
 *
 * The management API refuses ranges that overlap in part. Here one of those that have the port wins.
 */
export class NaptRanges {
  /** Address → its block. */
  private readonly directory: WordMap;
  private readonly blocks: Arena;
  size: number;

  constructor(directory: Space, blocks: Space, from?: NaptRanges) {
    this.directory = new WordMap(directory, from?.directory);
    this.blocks = new Arena(MAX_BLOCK_WORDS, blocks, from?.blocks);
    this.size = from?.size ?? 0;
  }

  get bytes(): number {
    return this.directory.bytes + this.blocks.bytes;
  }

  /** @returns the value the range had; −1: it is new. */
  set(address: number, lowerPort: number, upperPort: number, value: number): number {
    const block = this.directory.find(address | 0);
    const ranges = block === -1 ? [] : this.rangesOf(block);
    const bounds = (lowerPort << 16) | upperPort;
    const at = insertionPoint(ranges, bounds);
    if (at < ranges.length && ranges[at + BOUNDS] === bounds) {
      const previous = ranges[at + VALUE];
      this.blocks.own(block)[wordOf(block) + 1 + at + VALUE] = value;
      return previous;
    }
    ranges.splice(at, 0, bounds, value, -1);
    this.replace(address, block, ranges.length - RANGE, ranges);
    this.size++;
    return -1;
  }

  /** @returns the value the range had; −1: there was none. */
  delete(address: number, lowerPort: number, upperPort: number): number {
    const block = this.directory.find(address | 0);
    if (block === -1) return -1;
    const ranges = this.rangesOf(block);
    const bounds = (lowerPort << 16) | upperPort;
    const at = insertionPoint(ranges, bounds);
    if (at === ranges.length || ranges[at + BOUNDS] !== bounds) return -1;
    const [, value] = ranges.splice(at, RANGE);
    this.replace(address, block, ranges.length + RANGE, ranges);
    this.size--;
    return value;
  }

  /** A copy of the ranges of a block. */
  private rangesOf(block: number): number[] {
    const chunk = this.blocks.chunks[chunkOf(block)];
    const at = wordOf(block) + 1;
    return Array.from(chunk.subarray(at, at + chunk[at - 1] * RANGE));
  }

  /** Stores the ranges of an address in a block of their size. @param block its current block; −1: it has none. */
  private replace(address: number, block: number, words: number, ranges: number[]): void {
    if (block !== -1) this.blocks.release(block, 1 + words);
    if (ranges.length === 0) {
      this.directory.delete(address | 0);
      return;
    }
    linkParents(ranges);
    const next = this.blocks.allocate(1 + ranges.length);
    const chunk = this.blocks.own(next);
    const at = wordOf(next);
    chunk[at] = ranges.length / RANGE;
    chunk.set(ranges, at + 1);
    this.directory.set(address | 0, next);
  }
}

/** The offset of the first range that is not before one with those bounds. */
function insertionPoint(ranges: readonly number[], bounds: number): number {
  let low = 0;
  let high = ranges.length / RANGE;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rank(ranges[middle * RANGE + BOUNDS]) < rank(bounds)) low = middle + 1;
    else high = middle;
  }
  return low * RANGE;
}

/** The sort key of bounds: ascending by lower port, then the wider first. */
function rank(bounds: number): number {
  return (bounds ^ 0xffff) >>> 0;
}

function linkParents(ranges: number[]): void {
  let around = -1;
  for (let range = 0; range * RANGE < ranges.length; range++) {
    const lowerPort = ranges[range * RANGE + BOUNDS] >>> 16;
    while (around >= 0 && (ranges[around * RANGE + BOUNDS] & 0xffff) < lowerPort) {
      around = ranges[around * RANGE + PARENT];
    }
    ranges[range * RANGE + PARENT] = around;
    around = range;
  }
}
