import { wordOf } from './space.js';
import type { Arena } from './arena.js';

/*
 * A hash table in one block of memory: a head, a filter, then buckets of two words, each for one entry (a, b). Ordered
 * open addressing: the high half of a gives the home bucket, an entry is in its home bucket or behind it, and all
 * entries are in ascending order of a. So a search ends at the first entry that is not below the one it looks for.
 *
 * The filter is a Bloom filter, one word for four buckets: each a that is at home in one of them has
 * three bits. One a in 45 that no entry has passes. The filter of a hundred entries is in two or three cache lines,
 * their buckets are in twenty.
 */

/** The head: the number of entries in its low half; in its high half, for a leaf of a directory, its depth. */
export const COUNT_MASK = 0xffff;
export const DEPTH_SHIFT = 16;

export const ENTRY = 2;
/** A free bucket has the highest a, which ends a search, and b = 0, which no entry has. */
const FREE_A = 0x7fff_ffff;
export const FREE_B = 0;
/** Buckets behind the last home bucket, for entries that are not at home. The last is always free: it ends a search. */
const MOST_SPARE = 8;

export function firstOf(start: number, capacity: number): number {
  return start + 1 + filterWords(capacity);
}

/** Home buckets of a word of the filter: 1 << FILTER_SHIFT. */
const FILTER_SHIFT = 2;

function filterWords(capacity: number): number {
  return ((capacity - 1) >>> FILTER_SHIFT) + 1;
}

export function endOf(start: number, capacity: number): number {
  return start + blockWords(capacity);
}

export function blockWords(capacity: number): number {
  return firstOf(0, capacity) + (capacity + Math.min(capacity, MOST_SPARE)) * ENTRY;
}

/** The number of the home bucket. Ascends with a. */
function homeNumber(capacity: number, a: number): number {
  return (((a >> 16) + 0x8000) * capacity) >>> 16;
}

function home(start: number, capacity: number, a: number): number {
  return firstOf(start, capacity) + homeNumber(capacity, a) * ENTRY;
}

/** The offset of the first entry that is not below a, or of the bucket where it would be. */
export function seek(words: Int32Array, start: number, capacity: number, a: number): number {
  let bucket = home(start, capacity, a);
  while (words[bucket] < a) bucket += ENTRY;
  return bucket;
}

/** The offset of the entry with that key, searched from `bucket`, which `seek` found; −1: there is none. */
export function locate(
  words: Int32Array,
  bucket: number,
  a: number,
  b: number,
  keyOfB: number,
): number {
  for (; words[bucket] === a; bucket += ENTRY) {
    const found = words[bucket + 1];
    if (found === FREE_B) return -1;
    if (((found ^ b) & keyOfB) === 0) return bucket;
  }
  return -1;
}

/** 0: the table has no entry with that a; 1: it may have one. Without a branch, so that several calls overlap. */
export function mayContain(words: Int32Array, start: number, capacity: number, a: number): 0 | 1 {
  const missing = filterBits(a) & ~words[filterWord(start, capacity, a)];
  return (((missing | -missing) >>> 31) ^ 1) as 0 | 1;
}

function addToFilter(words: Int32Array, start: number, capacity: number, a: number): void {
  words[filterWord(start, capacity, a)] |= filterBits(a);
}

function filterWord(start: number, capacity: number, a: number): number {
  return start + 1 + (homeNumber(capacity, a) >>> FILTER_SHIFT);
}

/** The multiplication makes all of a count: its highest bits are those of the home, its lowest those of a leaf. */
function filterBits(a: number): number {
  const mixed = Math.imul(a, 0x9e37_79b1);
  return (1 << (mixed >>> 27)) | (1 << (mixed >>> 22)) | (1 << (mixed >>> 17));
}

/** Makes the word of the filter for an a anew, as a bit may be that of several entries. */
function refilter(words: Int32Array, start: number, capacity: number, a: number): void {
  const word = homeNumber(capacity, a) >>> FILTER_SHIFT;
  words[start + 1 + word] = 0;
  let at = firstOf(start, capacity) + (word << FILTER_SHIFT) * ENTRY;
  for (const end = endOf(start, capacity); at < end; at += ENTRY) {
    if (words[at + 1] === FREE_B) continue;
    if (homeNumber(capacity, words[at]) >>> FILTER_SHIFT > word) break;
    addToFilter(words, start, capacity, words[at]);
  }
}

/**
 * Inserts an entry at the bucket that `seek` found.
 * @returns false: the last bucket would not stay free; nothing is done.
 */
export function insert(
  words: Int32Array,
  start: number,
  capacity: number,
  bucket: number,
  a: number,
  b: number,
): boolean {
  let free = bucket;
  while (words[free + 1] !== FREE_B) free += ENTRY;
  if (free === endOf(start, capacity) - ENTRY) return false;
  for (; free > bucket; free -= ENTRY) {
    words[free] = words[free - ENTRY];
    words[free + 1] = words[free - ENTRY + 1];
  }
  words[bucket] = a;
  words[bucket + 1] = b;
  addToFilter(words, start, capacity, a);
  words[start]++;
  return true;
}

/** Removes the entry of a bucket: moves the entries behind it one bucket back, up to the first one that is at home. */
export function closeGap(words: Int32Array, start: number, capacity: number, bucket: number): void {
  const a = words[bucket];
  let gap = bucket;
  for (;;) {
    const next = gap + ENTRY;
    if (words[next + 1] === FREE_B || home(start, capacity, words[next]) === next) break;
    words[gap] = words[next];
    words[gap + 1] = words[next + 1];
    gap = next;
  }
  words[gap] = FREE_A;
  words[gap + 1] = FREE_B;
  refilter(words, start, capacity, a);
}

/** A block for an empty table. @returns its address. */
export function allocateBlock(arena: Arena, capacity: number): number {
  const block = arena.allocate(blockWords(capacity));
  clear(arena.own(block), wordOf(block), capacity);
  return block;
}

export function clear(words: Int32Array, start: number, capacity: number): void {
  words[start] = 0;
  words.fill(0, start + 1, firstOf(start, capacity));
  empty(words, firstOf(start, capacity), endOf(start, capacity));
}

/** Inserts all entries of one table into another. @returns false: they do not all fit. */
export function addAll(
  from: Int32Array,
  fromStart: number,
  to: Int32Array,
  toStart: number,
  capacity: number,
): boolean {
  for (let at = firstOf(fromStart, capacity); at < endOf(fromStart, capacity); at += ENTRY) {
    if (from[at + 1] === FREE_B) continue;
    const first = seek(to, toStart, capacity, from[at]);
    if (!insert(to, toStart, capacity, first, from[at], from[at + 1])) return false;
  }
  return true;
}

/** Copies a table to a block of another capacity. @returns false: it does not fit; the content is then undefined. */
export function refill(
  from: Int32Array,
  fromStart: number,
  fromCapacity: number,
  to: Int32Array,
  toStart: number,
  toCapacity: number,
): boolean {
  const fromEnd = endOf(fromStart, fromCapacity);
  const toEnd = endOf(toStart, toCapacity);
  let free = firstOf(toStart, toCapacity);
  to.fill(0, toStart + 1, free);
  for (let at = firstOf(fromStart, fromCapacity); at < fromEnd; at += ENTRY) {
    if (from[at + 1] === FREE_B) continue;
    const bucket = Math.max(free, home(toStart, toCapacity, from[at]));
    if (bucket >= toEnd - ENTRY) return false;
    empty(to, free, bucket);
    to[bucket] = from[at];
    to[bucket + 1] = from[at + 1];
    addToFilter(to, toStart, toCapacity, from[at]);
    free = bucket + ENTRY;
  }
  empty(to, free, toEnd);
  to[toStart] = from[fromStart];
  return true;
}

/** Makes the buckets from `first` to before `end` free. */
function empty(words: Int32Array, first: number, end: number): void {
  for (let at = first; at < end; at += ENTRY) {
    words[at] = FREE_A;
    words[at + 1] = FREE_B;
  }
}
