import { chunkOf, type Space, wordOf } from '../memory/space.js';
import { Arena } from '../memory/arena.js';
import { WordMap, WordMapLookup } from '../memory/word-map.js';

/** Words of a range: bounds (lower port in the high half, upper port in the low half), value, index of its parent. */
const RANGE = 3;
const BOUNDS = 0;
const VALUE = 1;
const PARENT = 2;

/** The bounds of a range of all ports. */
const ALL_PORTS = 0xffff;

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

  /** Whether the address has ranges, and not just one of all ports. Allocates nothing. */
  needsPort(address: number): boolean {
    const block = this.directory.find(address | 0);
    if (block === -1) return false;
    const chunk = this.chunks[chunkOf(block)];
    const ranges = wordOf(block) + 1;
    return chunk[ranges - 1] !== 1 || chunk[ranges + BOUNDS] !== ALL_PORTS;
  }

  /** The value of the narrowest range with the port; −1: none. Addresses may be signed or not. Allocates nothing. */
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
    const bounds = (lowerPort << 16) | upperPort;
    const place = this.placeOf(block, bounds);
    if (this.boundsAt(block, place) === bounds) {
      const chunk = this.blocks.own(block);
      const at = wordOf(block) + 1 + place * RANGE + VALUE;
      const previous = chunk[at];
      chunk[at] = value;
      return previous;
    }
    const next = this.splice(address, block, place, 0, 1);
    const chunk = this.blocks.own(next);
    const at = wordOf(next) + 1 + place * RANGE;
    chunk[at + BOUNDS] = bounds;
    chunk[at + VALUE] = value;
    this.linkParents(next, place);
    this.size++;
    return -1;
  }

  /** @returns the value the range had; −1: there was none. */
  delete(address: number, lowerPort: number, upperPort: number): number {
    const block = this.directory.find(address | 0);
    const bounds = (lowerPort << 16) | upperPort;
    const place = this.placeOf(block, bounds);
    if (this.boundsAt(block, place) !== bounds) return -1;
    const value = this.blocks.chunks[chunkOf(block)][wordOf(block) + 1 + place * RANGE + VALUE];
    const next = this.splice(address, block, place, 1, 0);
    if (next !== -1) this.linkParents(next, place);
    this.size--;
    return value;
  }

  private countOf(block: number): number {
    return block === -1 ? 0 : this.blocks.chunks[chunkOf(block)][wordOf(block)];
  }

  /** How many ranges of a block are before one with those bounds. @param block −1: none */
  private placeOf(block: number, bounds: number): number {
    let low = 0;
    let high = this.countOf(block);
    if (high === 0) return 0;
    const chunk = this.blocks.chunks[chunkOf(block)];
    const ranges = wordOf(block) + 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (rank(chunk[ranges + middle * RANGE + BOUNDS]) < rank(bounds)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The bounds of the range at a place; null: there is none. */
  private boundsAt(block: number, place: number): number | null {
    if (place >= this.countOf(block)) return null;
    return this.blocks.chunks[chunkOf(block)][wordOf(block) + 1 + place * RANGE + BOUNDS];
  }

  /**
   * Moves the ranges of an address to a block of another size: without those `removed` from a place on, with room for
   * those `added` there. An address may have thousands of ranges, so they move as a whole.
   * @param block its current block; −1: it has none.
   * @returns its new block; −1: no range is left.
   */
  private splice(
    address: number,
    block: number,
    place: number,
    removed: number,
    added: number,
  ): number {
    const count = this.countOf(block);
    const nextCount = count - removed + added;
    let next = -1;
    if (nextCount === 0) this.directory.delete(address | 0);
    else {
      next = this.blocks.allocate(1 + nextCount * RANGE);
      const chunk = this.blocks.own(next);
      const ranges = wordOf(next) + 1;
      chunk[ranges - 1] = nextCount;
      if (block !== -1) {
        const from = wordOf(block) + 1;
        const before = this.blocks.chunks[chunkOf(block)].subarray(from, from + count * RANGE);
        chunk.set(before.subarray(0, place * RANGE), ranges);
        chunk.set(before.subarray((place + removed) * RANGE), ranges + (place + added) * RANGE);
      }
      this.directory.set(address | 0, next);
    }
    if (block !== -1) this.blocks.release(block, 1 + count * RANGE);
    return next;
  }

  /** Links the ranges of a block from a place on with those around them. */
  private linkParents(block: number, place: number): void {
    const chunk = this.blocks.own(block);
    const ranges = wordOf(block) + 1;
    const end = ranges + chunk[ranges - 1] * RANGE;
    let around = place - 1;
    for (let at = ranges + place * RANGE; at < end; at += RANGE) {
      const lowerPort = chunk[at + BOUNDS] >>> 16;
      while (around >= 0 && (chunk[ranges + around * RANGE + BOUNDS] & 0xffff) < lowerPort) {
        around = chunk[ranges + around * RANGE + PARENT];
      }
      chunk[at + PARENT] = around;
      around = (at - ranges) / RANGE;
    }
  }
}

/** The sort key of bounds: ascending by lower port, then the wider first. */
function rank(bounds: number): number {
  return (bounds ^ 0xffff) >>> 0;
}
