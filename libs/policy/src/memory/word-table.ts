/** Words of an entry: a, b, c. */
const ENTRY = 3;

const SEGMENT_BITS = 10;
const SEGMENTS = 1 << SEGMENT_BITS;
const SEGMENT_MASK = SEGMENTS - 1;
const MIN_CAPACITY = 8;
/** Home positions come from 16 bits of the hash, which is enough up to this many entries a segment: 46 million in all. */
const MAX_CAPACITY = 65_535;
const MAX_LOAD = 0.8;
const GROWTH = 1.25;
const FREE = 0;
/** What every unused segment is: one free position, and room for no entry. */
const UNUSED_TAGS = new Uint8Array(1);
const UNUSED_ENTRIES = new Int32Array(ENTRY);
const UNUSED_FILTER = new Int32Array(1);
/** Positions that share a word of the filter: 16 bits a position, so 23 to 28 an entry. */
const POSITIONS_A_WORD = 2;

/**
 * A hash table of three-word entries in typed arrays: 1024 segments, each an open-addressing table with linear probing that grows on
 * its own by a quarter. So an insertion moves at most one segment (10,000 entries of 10 million, some 100 µs, once in 2,000
 * insertions), never the table, and an entry takes 18 to 24 bytes at any size. Removal closes the gap, so there are no
 * tombstones and no search gets longer.
 *
 * A byte a position, apart from the entries, holds eight bits of the hash. A search goes by these: where there is no such entry, which
 * is the rule, it reads one cache line of a table a twelfth the size. Before that stands a filter (a Bloom filter of two bits an entry, both in
 * one word), which rules out all but a few keys that are not there. Entries that go leave their bits; once they are half of the positions
 * the segment's filter is made anew.
 *
 * Which bits of b and c belong to the key is the owner's choice; the others are the value. a is key as a whole.
 */
export class WordTable {
  private readonly tags = new Array<Uint8Array>(SEGMENTS).fill(UNUSED_TAGS);
  private readonly entries = new Array<Int32Array>(SEGMENTS).fill(UNUSED_ENTRIES);
  private readonly filters = new Array<Int32Array>(SEGMENTS).fill(UNUSED_FILTER);
  private readonly counts = new Int32Array(SEGMENTS);
  /** Entries of each segment that went since its filter was made, and whose bits are still there. */
  private readonly gone = new Int32Array(SEGMENTS);
  private total = 0;

  /** @param keyOfB, keyOfC bits that belong to the key. */
  constructor(
    private readonly keyOfB: number,
    private readonly keyOfC: number,
  ) {}

  get size(): number {
    return this.total;
  }

  /** Memory held by entries, in bytes. */
  get bytes(): number {
    const positions = this.tags.reduce((sum, { length }) => sum + length, 0);
    const filterWords = this.filters.reduce((sum, { length }) => sum + length, 0);
    return positions * (ENTRY * 4 + 1) + filterWords * 4;
  }

  /** Word b of the entry with that key; 0: there is none. For owners whose b is not 0. Words are signed. Allocates nothing. */
  findB(a: number, b: number, c: number): number {
    const hash = this.hash(a, c);
    const position = this.locate(hash, a, b, c);
    return position < 0 ? 0 : this.entries[hash & SEGMENT_MASK][position * ENTRY + 1];
  }

  /** Word c of the entry with that key; −1: there is none. For owners whose c is from 0 and no part of the key. */
  findC(a: number, b: number): number {
    const hash = this.hash(a, 0);
    const position = this.locate(hash, a, b, 0);
    return position < 0 ? -1 : this.entries[hash & SEGMENT_MASK][position * ENTRY + 2];
  }

  /** 0: there is no entry with such a and c; 1: there may be one. One word is read, and no branch waits for it. */
  mayHave(a: number, c: number): 0 | 1 {
    const hash = this.hash(a, c);
    const filter = this.filters[hash & SEGMENT_MASK];
    const second = rehash(hash);
    const missing = filterBits(second) & ~filter[home(second, filter.length)];
    return (((missing | -missing) >>> 31) ^ 1) as 0 | 1;
  }

  /** Begins to read what `set` will need for such an entry. */
  touch(a: number, c: number): number {
    const hash = this.hash(a, c);
    const segment = hash & SEGMENT_MASK;
    const tags = this.tags[segment];
    const filter = this.filters[segment];
    const position = home(hash, tags.length);
    return (
      tags[position] ^
      this.entries[segment][position * ENTRY] ^
      filter[home(rehash(hash), filter.length)]
    );
  }

  /** Puts an entry in, in place of the one with its key. @returns word b of that one; 0: there was none. */
  set(a: number, b: number, c: number): number {
    const hash = this.hash(a, c);
    const segment = hash & SEGMENT_MASK;
    let previous = 0;
    let position = this.locate(hash, a, b, c);
    if (position >= 0) {
      previous = this.entries[segment][position * ENTRY + 1];
    } else {
      const capacity = this.tags[segment].length;
      if (this.counts[segment] + 1 > capacity * MAX_LOAD) {
        this.resize(segment, Math.max(Math.ceil(capacity * GROWTH), MIN_CAPACITY));
      }
      position = this.freePosition(hash);
      this.tags[segment][position] = tagOf(hash);
      mark(this.filters[segment], hash);
      this.counts[segment]++;
      this.total++;
    }
    const entries = this.entries[segment];
    entries[position * ENTRY] = a;
    entries[position * ENTRY + 1] = b;
    entries[position * ENTRY + 2] = c;
    return previous;
  }

  /** @returns whether there was such an entry. */
  delete(a: number, b: number, c: number): boolean {
    const hash = this.hash(a, c);
    const segment = hash & SEGMENT_MASK;
    const position = this.locate(hash, a, b, c);
    if (position < 0) return false;
    this.closeGap(this.tags[segment], this.entries[segment], position);
    this.total--;
    const count = --this.counts[segment];
    const { length: capacity } = this.tags[segment];
    if (capacity > MIN_CAPACITY && count * 4 < capacity) {
      this.resize(segment, Math.max(Math.ceil((count * GROWTH) / MAX_LOAD), MIN_CAPACITY));
    } else if (++this.gone[segment] * 2 > capacity) {
      this.refillFilter(segment);
    }
    return true;
  }

  /** Position of the entry with that key in its segment; −1: there is none. Some position is always free. */
  private locate(hash: number, a: number, b: number, c: number): number {
    const tags = this.tags[hash & SEGMENT_MASK];
    const tag = tagOf(hash);
    let position = home(hash, tags.length);
    for (;;) {
      const found = tags[position];
      if (found === FREE) return -1;
      if (found === tag) {
        const entries = this.entries[hash & SEGMENT_MASK];
        const at = position * ENTRY;
        if (
          entries[at] === a &&
          ((entries[at + 1] ^ b) & this.keyOfB) === 0 &&
          ((entries[at + 2] ^ c) & this.keyOfC) === 0
        ) {
          return position;
        }
      }
      if (++position === tags.length) position = 0;
    }
  }

  private freePosition(hash: number): number {
    const tags = this.tags[hash & SEGMENT_MASK];
    let position = home(hash, tags.length);
    while (tags[position] !== FREE) {
      if (++position === tags.length) position = 0;
    }
    return position;
  }

  /** Moves back what a search would no longer reach (Knuth, The Art of Computer Programming 3, §6.4, algorithm R). */
  private closeGap(tags: Uint8Array, entries: Int32Array, start: number): void {
    let gap = start;
    let position = start;
    for (;;) {
      if (++position === tags.length) position = 0;
      if (tags[position] === FREE) break;
      const at = position * ENTRY;
      const wanted = home(this.hash(entries[at], entries[at + 2]), tags.length);
      const isReached =
        gap <= position ? gap < wanted && wanted <= position : gap < wanted || wanted <= position;
      if (isReached) continue;
      tags[gap] = tags[position];
      entries.copyWithin(gap * ENTRY, at, at + ENTRY);
      gap = position;
    }
    tags[gap] = FREE;
  }

  private refillFilter(segment: number): void {
    const tags = this.tags[segment];
    const entries = this.entries[segment];
    const filter = this.filters[segment].fill(0);
    for (let position = 0; position < tags.length; position++) {
      if (tags[position] === FREE) continue;
      mark(filter, this.hash(entries[position * ENTRY], entries[position * ENTRY + 2]));
    }
    this.gone[segment] = 0;
  }

  private resize(segment: number, capacity: number): void {
    if (capacity > MAX_CAPACITY) throw new RangeError('a table of a policy is full');
    const oldTags = this.tags[segment];
    const oldEntries = this.entries[segment];
    const tags = new Uint8Array(capacity);
    const entries = new Int32Array(capacity * ENTRY);
    this.tags[segment] = tags;
    this.entries[segment] = entries;
    const filter = new Int32Array(Math.ceil(capacity / POSITIONS_A_WORD));
    this.filters[segment] = filter;
    this.gone[segment] = 0;
    for (let from = 0; from < oldTags.length; from++) {
      if (oldTags[from] === FREE) continue;
      const at = from * ENTRY;
      const a = oldEntries[at];
      const c = oldEntries[at + 2];
      const hash = this.hash(a, c);
      const position = this.freePosition(hash);
      mark(filter, hash);
      tags[position] = oldTags[from];
      entries[position * ENTRY] = a;
      entries[position * ENTRY + 1] = oldEntries[at + 1];
      entries[position * ENTRY + 2] = c;
    }
  }

  /** Low bits pick the segment, high bits the home position, those between are the tag. */
  private hash(a: number, c: number): number {
    let hash = a ^ Math.imul(c & this.keyOfC, 0x9e37_79b1);
    hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
    return hash ^ (hash >>> 16);
  }
}

function home(hash: number, capacity: number): number {
  return Math.imul(hash >>> 16, capacity) >>> 16;
}

/** Bits for the filter, where those of the segment would all be the same. */
function rehash(hash: number): number {
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d);
}

function filterBits(second: number): number {
  return (1 << (second & 31)) | (1 << ((second >>> 5) & 31));
}

function mark(filter: Int32Array, hash: number): void {
  const second = rehash(hash);
  filter[home(second, filter.length)] |= filterBits(second);
}

/** 1 … 255. */
function tagOf(hash: number): number {
  return (hash >>> SEGMENT_BITS) & 0xff || 1;
}
