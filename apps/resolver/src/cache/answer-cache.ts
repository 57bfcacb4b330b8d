import {
  Ede,
  HEADER_BYTES,
  hasUsableRcode,
  CacheKind,
  CacheTtl,
  type Query,
  QUESTION_FIXED_BYTES,
  Rcode,
  type Response,
} from '@weir/dns-wire';
import { type Question, questionKey } from '../query/question.js';
import { AnswerStore } from './answer-store.js';
import { EntryCodec } from './entry-codec.js';
import { entryWords, Head, Use } from './entry.js';

/** What is known of a question. */
export const CacheResult = {
  miss: 0,
  /** An answer, or a failure that was a moment ago. */
  fresh: 1,
  /** A fresh answer that is asked for often and expires soon: refresh it now. */
  expiring: 2,
  /** An answer that has expired: only to be given when there is no other (RFC 8767). */
  stale: 3,
  /** The same, and no other was to be had a moment ago. */
  failing: 4,
} as const;
export type CacheResult = (typeof CacheResult)[keyof typeof CacheResult];

/** How long an expired answer may still be given, and the TTL that it then has (RFC 8767 §5 and §4). */
const STALE_SECONDS = 86_400;
const STALE_TTL_SECONDS = 30;
/** How long a failure of upstream is remembered (RFC 2308 §7, RFC 9520 §3.2: 1 s … 5 min). */
const FAILURE_SECONDS = 5;
/** An answer is renewed in the last tenth of its life, if it was hit this often. */
const PREFETCH_LIFE_FRACTION = 10;
const MIN_PREFETCH_HITS = 2 * Use.oneHit;
/** Keeps all times of an entry within 31 bits; 34 years. */
const MAX_LIFE_SECONDS = 2 ** 30;
/** Larger answers are not kept. */
const MAX_ENTRY_WORDS = 4096;

/** Plain counters, read by the metrics. */
export interface CacheCounters {
  hits: number;
  misses: number;
  /** Answers given after they had expired. */
  stale: number;
  /** Answers renewed before they expired. */
  prefetches: number;
}

/**
 * Answers of upstream resolvers, as they came, by question: name, type, DO and CD. A hit becomes a `Response` like that of an upstream,
 * TTLs counted down, and is judged like one: nothing here depends on who asks. Finding allocates nothing.
 *
 * Seconds are of one clock that never goes back, given by the caller.
 */
export class AnswerCache {
  readonly counters: CacheCounters = { hits: 0, misses: 0, stale: 0, prefetches: 0 };
  private readonly store: AnswerStore;
  private readonly codec: EntryCodec;
  private readonly cacheTtl = new CacheTtl();
  /** Offset of the entry that `find` has found. */
  private entry = -1;
  private nowSeconds = 0;

  /**
   * @param sizeBytes memory for all, 64 KiB or more
   * @param minTtlSeconds, maxTtlSeconds bounds on the TTLs of what is kept; the upper one counts more
   */
  constructor(
    sizeBytes: number,
    private readonly minTtlSeconds = 0,
    private readonly maxTtlSeconds = MAX_LIFE_SECONDS,
  ) {
    this.store = new AnswerStore(sizeBytes, (at) => this.isDisposable(at));
    this.codec = new EntryCodec(this.store);
  }

  get entries(): number {
    return this.store.entries;
  }

  get usedBytes(): number {
    return this.store.usedBytes;
  }

  /** Entries driven out by others while they were of use. */
  get evictions(): number {
    return this.store.evictions;
  }

  /** Looks a question up and counts that. `read` or `readStale` may follow, with the same query and at once. */
  find(question: Question, nowSeconds: number): CacheResult {
    this.nowSeconds = nowSeconds;
    const at = this.findEntry(question);
    this.entry = at;
    const found = at < 0 ? CacheResult.miss : this.stateOf(at, nowSeconds);
    if (found === CacheResult.fresh || found === CacheResult.expiring) {
      this.counters.hits++;
      this.countHit(at);
    } else {
      this.counters.misses++;
    }
    return found;
  }

  /** Whether there is an expired answer that may still be given; `readStale` may follow. Counts nothing. */
  findStale(question: Question, nowSeconds: number): boolean {
    this.nowSeconds = nowSeconds;
    this.entry = this.findEntry(question);
    return this.entry >= 0 && !this.isDisposable(this.entry) && !this.isFailure(this.entry);
  }

  /** The fresh entry that was found. Good until the next call of any method here. */
  read(query: Query): Response {
    return this.codec.read(this.entry, query, this.nowSeconds);
  }

  /** The expired entry that was found, with EDE 3 or 19 (RFC 8914 §4.4, §4.20). Good until the next call of any method here. */
  readStale(query: Query): Response {
    this.counters.stale++;
    this.countHit(this.entry);
    const response = this.codec.readWithTtl(this.entry, query, STALE_TTL_SECONDS);
    const isNegative = response.rcode === Rcode.nxDomain;
    response.ede = isNegative ? Ede.staleNxDomainAnswer : Ede.staleAnswer;
    return response;
  }

  /** The entry that was found is being renewed: it is not `expiring` any more until that has failed. */
  markRefreshing(): void {
    this.counters.prefetches++;
    this.store.words[this.entry + Head.use] |= Use.refreshing;
  }

  /** Keeps an upstream's answer to the question, if it may be kept. A failure never replaces an answer that is still of use. */
  put(question: Question, response: Response, nowSeconds: number): void {
    this.nowSeconds = nowSeconds;
    if (!hasUsableRcode(response)) {
      this.putFailure(question, response.rcode, response.ede, nowSeconds);
      return;
    }
    const { cacheTtl } = this;
    cacheTtl.read(response, question.query.qtype);
    const old = this.findEntry(question);
    if (cacheTtl.kind === CacheKind.uncacheable) {
      // It is the truth now, so what was here before is not.
      if (old >= 0) this.store.drop(old);
      return;
    }
    const longest = Math.min(this.maxTtlSeconds, MAX_LIFE_SECONDS);
    const shortest = Math.min(this.minTtlSeconds, longest);
    const seconds = Math.min(Math.max(cacheTtl.seconds, shortest), longest);
    const highest = cacheTtl.kind === CacheKind.negative ? seconds : longest;
    const at = this.allocate(question, old, response.recordsEnd, response.ttlCount);
    if (at >= 0) this.codec.write(at, response, nowSeconds, seconds, shortest, highest);
  }

  /**
   * Remembers for some seconds that no upstream had an answer to the question.
   * @param rcode below 16, @param ede what a client is told; `Ede.none` becomes 13
   */
  putFailure(question: Question, rcode: number, ede: number, nowSeconds: number): void {
    this.nowSeconds = nowSeconds;
    const { words } = this.store;
    const old = this.findEntry(question);
    if (old >= 0 && !this.isFailure(old) && !this.isDisposable(old)) {
      words[old + Head.retryAt] = nowSeconds + FAILURE_SECONDS;
      words[old + Head.use] &= ~Use.refreshing;
      return;
    }
    const { bytes, query } = question;
    const at = this.allocate(question, old, query.questionEnd, 0);
    if (at < 0) return;
    const told = ede === Ede.none ? Ede.cachedError : ede;
    const { questionEnd } = query;
    this.codec.writeFailure(at, bytes, questionEnd, rcode, told, nowSeconds, FAILURE_SECONDS);
  }

  private findEntry({ bytes, query, nameHashLow, nameHashHigh }: Question): number {
    const nameBytes = query.questionEnd - QUESTION_FIXED_BYTES - HEADER_BYTES;
    return this.store.find(nameHashLow, nameHashHigh, questionKey(query), bytes, nameBytes);
  }

  private stateOf(at: number, nowSeconds: number): CacheResult {
    const { words } = this.store;
    const leftSeconds = words[at + Head.expiresAt] - nowSeconds;
    const use = words[at + Head.use];
    if (leftSeconds > 0) {
      const mayRefresh = (use & (Use.refreshing | Use.failure)) === 0;
      const isPopular = (use & Use.hits) >= MIN_PREFETCH_HITS;
      if (!mayRefresh || !isPopular || nowSeconds < words[at + Head.retryAt])
        return CacheResult.fresh;
      const lifeSeconds = words[at + Head.expiresAt] - words[at + Head.storedAt];
      return leftSeconds * PREFETCH_LIFE_FRACTION <= lifeSeconds
        ? CacheResult.expiring
        : CacheResult.fresh;
    }
    if (this.isDisposable(at)) return CacheResult.miss;
    return nowSeconds < words[at + Head.retryAt] ? CacheResult.failing : CacheResult.stale;
  }

  private isFailure(at: number): boolean {
    return (this.store.words[at + Head.use] & Use.failure) !== 0;
  }

  /** Whether the entry can serve nobody any more. */
  private isDisposable(at: number): boolean {
    const expiresAt = this.store.words[at + Head.expiresAt];
    const usefulUntil = this.isFailure(at) ? expiresAt : expiresAt + STALE_SECONDS;
    return this.nowSeconds >= usefulUntil;
  }

  private countHit(at: number): void {
    const { words } = this.store;
    let use = words[at + Head.use];
    if ((use & Use.frequency) !== Use.frequency) use++;
    if ((use & Use.hits) !== Use.hits) use += Use.oneHit;
    words[at + Head.use] = use;
  }

  private allocate(question: Question, old: number, recordsEnd: number, ttlCount: number): number {
    const size = entryWords(recordsEnd, HEADER_BYTES, ttlCount);
    const { store } = this;
    if (size > MAX_ENTRY_WORDS || size > store.largestEntry) {
      if (old >= 0) store.drop(old);
      return -1;
    }
    const { nameHashLow, nameHashHigh, query } = question;
    return store.allocate(nameHashLow, nameHashHigh, questionKey(query), old, size);
  }
}
