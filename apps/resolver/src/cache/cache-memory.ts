import { createReaderLock } from '@weir/policy';
import { SLOT_WORDS } from './hash-index.js';
import { RING_WORDS } from './ring-buffer.js';

/**
 * All that the threads of a cache share: memory of a fixed size, which can be sent to them. Memory that was never
 * written takes none of the machine's.
 */
export interface CacheMemory {
  /** Of the `HashIndex`. */
  readonly slots: SharedArrayBuffer;
  readonly entries: SharedArrayBuffer;
  /** Of the `GhostTable`. */
  readonly ghosts: SharedArrayBuffer;
  /** See `State`. */
  readonly state: SharedArrayBuffer;
  /** See `Lookup` and `SKIPPED_WRITES`. */
  readonly counters: SharedArrayBuffer;
  /** Keeps lookups and writes apart. */
  readonly lock: SharedArrayBuffer;
}

const WORD_BYTES = Int32Array.BYTES_PER_ELEMENT;
const LINE_BYTES = 64;
const LINE_WORDS = LINE_BYTES / WORD_BYTES;

const SMALL_RING = 2 * LINE_WORDS;
const MAIN_RING = SMALL_RING + RING_WORDS;

/** Words of `CacheMemory.state`. What lookups read, what writes change and the mutex have cache lines of their own. */
export const State = {
  /** See `WriteMutex`. */
  mutex: 0,
  /** Counts the flushes. It is raised before a flush removes anything. */
  generation: LINE_WORDS,
  /** Failures up to that second do not count any more, see `AnswerCache.retryFailures`. */
  retry: LINE_WORDS + 1,
  /** Those of the rings, see `RingBuffer`. */
  smallRing: SMALL_RING,
  mainRing: MAIN_RING,
  /** Entries in the index. */
  count: MAIN_RING + RING_WORDS,
  /** Entries that were reinserted since there was room in the main ring. */
  reinsertions: MAIN_RING + RING_WORDS + 1,
  /** 1 while everything is being removed. */
  clearing: MAIN_RING + RING_WORDS + 2,
  /** A 64-bit number: entries that were evicted while they were still useful. */
  evictions: 3 * LINE_WORDS,
} as const;
const STATE_BYTES = 4 * LINE_BYTES;

/** Memory per index slot. A typical entry has 100 … 250 bytes; a slot has eight. */
const BYTES_PER_SLOT = 64;
/** A cache line of numbers for each thread. */
const COUNTERS = LINE_BYTES / Float64Array.BYTES_PER_ELEMENT;
/** Before all times. */
const NEVER = -(2 ** 30);

/**
 * @param sizeBytes total memory of the cache, 64 KiB or more
 * @param threads how many use the cache; each has a number from 0
 */
export function createCacheMemory(sizeBytes: number, threads: number): CacheMemory {
  const slots = 2 ** Math.floor(Math.log2(sizeBytes / BYTES_PER_SLOT));
  const slotWords = slots * SLOT_WORDS;
  const ghostWords = slots / 2;
  // Not `>>`: from 2 GiB on, the size does not fit a signed 32-bit number.
  const entryWords = Math.floor(sizeBytes / WORD_BYTES) - slotWords - ghostWords;
  const state = new SharedArrayBuffer(STATE_BYTES);
  new Int32Array(state)[State.retry] = NEVER;
  return {
    slots: new SharedArrayBuffer(slotWords * WORD_BYTES),
    entries: new SharedArrayBuffer(entryWords * WORD_BYTES),
    ghosts: new SharedArrayBuffer(ghostWords * WORD_BYTES),
    state,
    counters: new SharedArrayBuffer(threads * LINE_BYTES),
    lock: createReaderLock(threads),
  };
}

/** What each thread counts, in memory that all can read: nobody else writes it. */
export const Lookup = {
  hit: 0,
  miss: 1,
  /** Expired answers that were served. */
  stale: 2,
  /** Answers that were refreshed before they expired. */
  prefetch: 3,
} as const;
export type CacheCounters = Record<keyof typeof Lookup, number>;
/** Counted in the same way: what was not kept, see `AnswerCache.skippedWrites`. */
export const SKIPPED_WRITES = 4;

export function countersOf({ counters }: CacheMemory, thread: number): Float64Array {
  return new Float64Array(counters, thread * LINE_BYTES, COUNTERS);
}

export function totalOf({ counters }: CacheMemory, counter: number): number {
  const all = new Float64Array(counters);
  let sum = 0;
  for (let at = counter; at < all.length; at += COUNTERS) sum += all[at];
  return sum;
}

export function totalCounters(memory: CacheMemory): CacheCounters {
  const { hit, miss, stale, prefetch } = Lookup;
  return {
    hit: totalOf(memory, hit),
    miss: totalOf(memory, miss),
    stale: totalOf(memory, stale),
    prefetch: totalOf(memory, prefetch),
  };
}
