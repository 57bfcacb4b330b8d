import { type CacheMemory, countersOf, readersOf } from './cache-memory.js';

/** Counters of a cache, read by the metrics. */
export interface CacheCounters {
  readonly hits: number;
  readonly misses: number;
  /** Expired answers that were served. */
  readonly stale: number;
  /** Answers that were refreshed before they expired. */
  readonly prefetches: number;
}

const HITS = 0;
const MISSES = 1;
const STALE = 2;
const PREFETCHES = 3;

/** What one thread counts, in memory that the writer can read: nobody else writes it. */
export class LookupCounters implements CacheCounters {
  constructor(private readonly counts: Float64Array) {}

  get hits(): number {
    return this.counts[HITS];
  }

  get misses(): number {
    return this.counts[MISSES];
  }

  get stale(): number {
    return this.counts[STALE];
  }

  get prefetches(): number {
    return this.counts[PREFETCHES];
  }

  countHit(): void {
    this.counts[HITS]++;
  }

  countMiss(): void {
    this.counts[MISSES]++;
  }

  countStale(): void {
    this.counts[STALE]++;
  }

  countPrefetch(): void {
    this.counts[PREFETCHES]++;
  }

  forgetMiss(): void {
    this.counts[MISSES]--;
  }

  /** The last miss was a hit. */
  turnMissIntoHit(): void {
    this.counts[MISSES]--;
    this.counts[HITS]++;
  }
}

/** The sums over all threads. */
export function totalCounters(memory: CacheMemory): CacheCounters {
  const sum = { hits: 0, misses: 0, stale: 0, prefetches: 0 };
  for (let reader = 0; reader <= readersOf(memory); reader++) {
    const { hits, misses, stale, prefetches } = new LookupCounters(countersOf(memory, reader));
    sum.hits += hits;
    sum.misses += misses;
    sum.stale += stale;
    sum.prefetches += prefetches;
  }
  return sum;
}
