import { createReaderLock } from '@weir/policy';
import { SLOT_WORDS } from './hash-index.js';

/**
 * All that a lookup reads: memory of a fixed size, which other threads can be sent. One thread writes. Memory that was
 * never written takes none of the machine's.
 */
export interface CacheMemory {
  /** Of the `HashIndex`. */
  readonly slots: SharedArrayBuffer;
  readonly entries: SharedArrayBuffer;
  /** One word: failures up to that second do not count any more, see `AnswerCache.retryFailures`. */
  readonly retry: SharedArrayBuffer;
  /** See `Lookup`. */
  readonly counters: SharedArrayBuffer;
  /** Keeps lookups and writes apart. */
  readonly lock: SharedArrayBuffer;
}

/** What a `SharedCache` is made from, to be sent to its thread. */
export interface CacheInvitation {
  readonly memory: CacheMemory;
  /** The number of the reader. */
  readonly reader: number;
}

/** Memory per index slot. A typical entry has 100 … 250 bytes; a slot has eight. */
const BYTES_PER_SLOT = 64;
const WORD_BYTES = Int32Array.BYTES_PER_ELEMENT;
/** A cache line of numbers for each reader. */
const COUNTERS_BYTES = 64;
const COUNTERS = COUNTERS_BYTES / Float64Array.BYTES_PER_ELEMENT;

/**
 * @param sizeBytes total memory of the cache, 64 KiB or more. The part that only the writer needs is not in here.
 * @param readers most readers in other threads
 */
export function createCacheMemory(sizeBytes: number, readers: number): CacheMemory {
  const slots = 2 ** Math.floor(Math.log2(sizeBytes / BYTES_PER_SLOT));
  const slotWords = slots * SLOT_WORDS;
  // Not `>>`: from 2 GiB on, the size does not fit a signed 32-bit number.
  const entryWords = Math.floor(sizeBytes / WORD_BYTES) - slotWords - ghostSlots(slots);
  return {
    slots: new SharedArrayBuffer(slotWords * WORD_BYTES),
    entries: new SharedArrayBuffer(entryWords * WORD_BYTES),
    retry: new SharedArrayBuffer(WORD_BYTES),
    counters: new SharedArrayBuffer((1 + readers) * COUNTERS_BYTES),
    lock: createReaderLock(readers),
  };
}

/** Slots of the `GhostTable`, one word each, beside that many slots of the index. */
export function ghostSlots(slots: number): number {
  return slots / 2;
}

/** What each thread counts, in memory that the writer can read: nobody else writes it. */
export const Lookup = {
  hit: 0,
  miss: 1,
  /** Expired answers that were served. */
  stale: 2,
  /** Answers that were refreshed before they expired. */
  prefetch: 3,
} as const;
export type CacheCounters = Record<keyof typeof Lookup, number>;

/** The counters of one reader; 0 is the writer itself. */
export function countersOf({ counters }: CacheMemory, reader: number): Float64Array {
  return new Float64Array(counters, reader * COUNTERS_BYTES, COUNTERS);
}

/** The sums over all threads. */
export function totalCounters({ counters }: CacheMemory): CacheCounters {
  const sum = { hit: 0, miss: 0, stale: 0, prefetch: 0 };
  const all = new Float64Array(counters);
  for (const kind of Object.keys(sum) as (keyof CacheCounters)[]) {
    for (let at: number = Lookup[kind]; at < all.length; at += COUNTERS) sum[kind] += all[at];
  }
  return sum;
}
