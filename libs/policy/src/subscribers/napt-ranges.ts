import { Arena, chunkOf, wordOf } from '../memory/arena.js';
import { WordMap } from '../memory/word-map.js';

/** Words of a range: bounds (lower port in the high half, upper in the low), value, index of the range around it or −1. */
const RANGE = 3;
const BOUNDS = 0;
const VALUE = 1;
const PARENT = 2;
/** Larger blocks, of addresses with more than 1365 ranges, have memory of their own. */
const MAX_BLOCK_WORDS = 4096;
const NO_RANGES = new Int32Array(0);

/**
 * The port ranges of shared addresses. Ranges of one address nest (decisions §3), and the narrowest that holds a port wins.
 *
 * An address has one block of memory: the number of its ranges, then these, ascending by lower port and, where that is equal,
 * descending by upper port: a range comes after those around it. So the last range that begins at or before a port is the narrowest
 * candidate; if it ends before the port, the next one is the range around it, which each range names.
 *
 * Ranges that overlap in part are refused by the management API; here one of those that hold the port wins.
 */
export class NaptRanges {
  /** Address → its block. */
  private readonly directory = new WordMap();
  private readonly blocks = new Arena(MAX_BLOCK_WORDS);
  private count = 0;
  private matchedBounds = 0;

  /** Bounds of the range that the last `find` found, if it found one. */
  get matchedLowerPort(): number {
    return this.matchedBounds >>> 16;
  }

  get matchedUpperPort(): number {
    return this.matchedBounds & 0xffff;
  }

  get size(): number {
    return this.count;
  }

  /** Memory held, in bytes. */
  get bytes(): number {
    return this.directory.bytes + this.blocks.bytes;
  }

  /** The value of the narrowest range that holds the port; −1: none. Addresses may be signed or not. Allocates nothing. */
  find(address: number, port: number): number {
    if (this.count === 0) return -1;
    const block = this.directory.find(address | 0);
    if (block === -1) return -1;
    const chunk = this.blocks.chunks[chunkOf(block)];
    const ranges = wordOf(block) + 1;
    let low = 0;
    let high = chunk[ranges - 1];
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

  /** @returns the value the range had; −1: it is new. */
  set(address: number, lowerPort: number, upperPort: number, value: number): number {
    const block = this.directory.find(address | 0);
    const ranges = block === -1 ? NO_RANGES : this.rangesOf(block);
    const bounds = (lowerPort << 16) | upperPort;
    const at = insertionPoint(ranges, bounds);
    if (at < ranges.length && ranges[at + BOUNDS] === bounds) {
      const previous = ranges[at + VALUE];
      ranges[at + VALUE] = value;
      return previous;
    }
    const grown = new Int32Array(ranges.length + RANGE);
    grown.set(ranges.subarray(0, at));
    grown[at + BOUNDS] = bounds;
    grown[at + VALUE] = value;
    grown.set(ranges.subarray(at), at + RANGE);
    this.replace(address, block, ranges.length, grown);
    this.count++;
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
    const value = ranges[at + VALUE];
    const shrunk = new Int32Array(ranges.length - RANGE);
    shrunk.set(ranges.subarray(0, at));
    shrunk.set(ranges.subarray(at + RANGE), at);
    this.replace(address, block, ranges.length, shrunk);
    this.count--;
    return value;
  }

  /** The ranges of a block, in place. */
  private rangesOf(block: number): Int32Array {
    const chunk = this.blocks.chunks[chunkOf(block)];
    const at = wordOf(block) + 1;
    return chunk.subarray(at, at + chunk[at - 1] * RANGE);
  }

  /** Gives an address other ranges, in a block of their size. @param block −1: it has none yet. */
  private replace(address: number, block: number, words: number, ranges: Int32Array): void {
    if (block !== -1) this.blocks.release(block, 1 + words);
    if (ranges.length === 0) {
      this.directory.delete(address | 0);
      return;
    }
    linkParents(ranges);
    const next = this.blocks.allocate(1 + ranges.length);
    const chunk = this.blocks.chunks[chunkOf(next)];
    const at = wordOf(next);
    chunk[at] = ranges.length / RANGE;
    chunk.set(ranges, at + 1);
    this.directory.set(address | 0, next);
  }
}

/** Offset of the first range that does not come before one with those bounds. */
function insertionPoint(ranges: Int32Array, bounds: number): number {
  let low = 0;
  let high = ranges.length / RANGE;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rank(ranges[middle * RANGE + BOUNDS]) < rank(bounds)) low = middle + 1;
    else high = middle;
  }
  return low * RANGE;
}

/** Orders bounds: by lower port, then the wider first. */
function rank(bounds: number): number {
  return (bounds ^ 0xffff) >>> 0;
}

function linkParents(ranges: Int32Array): void {
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
