import { type Arena, chunkOf, wordOf } from './arena.js';

/*
 * One table of pairs in a block of memory: its head, then its buckets, of two words each. Open addressing in the order of a, the
 * first word of an entry: its home bucket goes by the high half of a, and those that cannot have theirs stand right behind,
 * ascending. So a search ends at the first entry that is not below, found or not.
 */

/** Of the head: the number of entries, and whatever else the owner keeps there. */
export const COUNT_MASK = 0xffff;
export const DEPTH_SHIFT = 16;

/** Words of an entry: a, b. */
export const ENTRY = 2;
/** Free buckets have the highest a, so that a search that goes by a ends there, and b 0, which no entry has. */
const FREE_A = 0x7fff_ffff;
export const FREE_B = 0;
/** Buckets behind the last home bucket, for entries that others moved on; the last of them is always free, which ends every search. */
const MOST_SPARE = 8;

export function firstOf(start: number): number {
  return start + 1;
}

export function endOf(start: number, capacity: number): number {
  return start + blockWords(capacity);
}

export function blockWords(capacity: number): number {
  return 1 + (capacity + Math.min(capacity, MOST_SPARE)) * ENTRY;
}

/** Ascends with a. */
function home(start: number, capacity: number, a: number): number {
  return firstOf(start) + ((((a >> 16) + 0x8000) * capacity) >>> 16) * ENTRY;
}

/** Where in the table the first entry is that is not below a, or would be. */
export function seek(words: Int32Array, start: number, capacity: number, a: number): number {
  let bucket = home(start, capacity, a);
  while (words[bucket] < a) bucket += ENTRY;
  return bucket;
}

/** Offset of the entry with that key, searched from the first on that is not below; −1: there is none. */
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

/**
 * 0: a is none of the entries; 1: it may be. Without a branch: looks whether a is among the entries at its home bucket and the two behind, and
 * whether a search would have ended there.
 */
export function mayContain(words: Int32Array, start: number, capacity: number, a: number): 0 | 1 {
  const bucket = home(start, capacity, a);
  const third = words[bucket + 2 * ENTRY];
  const isElsewhere = nonZero(words[bucket] ^ a) & nonZero(words[bucket + ENTRY] ^ a);
  const isOver = ((a >> 1) - (third >> 1)) >>> 31;
  return ((isElsewhere & isOver) ^ 1) as 0 | 1;
}

function nonZero(word: number): number {
  return (word | -word) >>> 31;
}

/** Puts an entry where it was sought. @returns false: then the last bucket would not be free any more, and nothing was done. */
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
  words[start]++;
  return true;
}

/** Moves entries to the bucket of the one that goes until one is at home. */
export function closeGap(words: Int32Array, start: number, capacity: number, bucket: number): void {
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
}

/** A block for an empty table. @returns its address. */
export function allocateBlock(arena: Arena, capacity: number): number {
  const block = arena.allocate(blockWords(capacity));
  clear(arena.chunks[chunkOf(block)], wordOf(block), capacity);
  return block;
}

/** Makes a block an empty table. */
export function clear(words: Int32Array, start: number, capacity: number): void {
  words[start] = 0;
  empty(words, firstOf(start), endOf(start, capacity));
}

/** Puts all entries of a table into another. @returns false: it does not take them all. */
export function addAll(
  from: Int32Array,
  fromStart: number,
  to: Int32Array,
  toStart: number,
  capacity: number,
): boolean {
  for (let at = firstOf(fromStart); at < endOf(fromStart, capacity); at += ENTRY) {
    if (from[at + 1] === FREE_B) continue;
    const first = seek(to, toStart, capacity, from[at]);
    if (!insert(to, toStart, capacity, first, from[at], from[at + 1])) return false;
  }
  return true;
}

/** Makes a block the same table with another capacity. @returns false: it does not fit, and the block is of no use. */
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
  let free = firstOf(toStart);
  for (let at = firstOf(fromStart); at < fromEnd; at += ENTRY) {
    if (from[at + 1] === FREE_B) continue;
    const bucket = Math.max(free, home(toStart, toCapacity, from[at]));
    if (bucket >= toEnd - ENTRY) return false;
    empty(to, free, bucket);
    to[bucket] = from[at];
    to[bucket + 1] = from[at + 1];
    free = bucket + ENTRY;
  }
  empty(to, free, toEnd);
  to[toStart] = from[fromStart];
  return true;
}

/** Makes the buckets from one to before another free. */
function empty(words: Int32Array, first: number, end: number): void {
  for (let at = first; at < end; at += ENTRY) {
    words[at] = FREE_A;
    words[at + 1] = FREE_B;
  }
}
