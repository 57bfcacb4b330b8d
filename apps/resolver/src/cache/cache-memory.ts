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

/** The counters of one reader; 0 is the writer itself. */
export function countersOf({ counters }: CacheMemory, reader: number): Float64Array {
  const count = COUNTERS_BYTES / Float64Array.BYTES_PER_ELEMENT;
  return new Float64Array(counters, reader * COUNTERS_BYTES, count);
}

/** Readers in other threads that the memory is made for. */
function readersOf({ counters }: CacheMemory): number {
  return counters.byteLength / COUNTERS_BYTES - 1;
}

/** Counters of a cache, read by the metrics. */
export interface CacheCounters {
  readonly hits: number;
  readonly misses: number;
  /** Expired answers that were served. */
  readonly stale: number;
  /** Answers that were refreshed before they expired. */
  readonly prefetches: number;
}

/** What each thread counts, in memory that the writer can read: nobody else writes it. */
export const Lookup = { hit: 0, miss: 1, stale: 2, prefetch: 3 } as const;

/** The sums over all threads. */
export function totalCounters(memory: CacheMemory): CacheCounters {
  const sum = { hits: 0, misses: 0, stale: 0, prefetches: 0 };
  for (let reader = 0; reader <= readersOf(memory); reader++) {
    const counts = countersOf(memory, reader);
    sum.hits += counts[Lookup.hit];
    sum.misses += counts[Lookup.miss];
    sum.stale += counts[Lookup.stale];
    sum.prefetches += counts[Lookup.prefetch];
  }
  return sum;
}
