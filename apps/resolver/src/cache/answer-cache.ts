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
import type { SuffixHashes } from '@weir/dns-name';
import type { NameRange } from '../query/name-range.js';
import { isNameKey, nameKey, type Question, questionKey } from '../query/question.js';
import { TargetHashes } from '../query/target-hashes.js';
import { AnswerStore } from './answer-store.js';
import { EntryCodec } from './entry-codec.js';
import { entryWords, Head, Use } from './entry.js';
import type { TargetHasher } from './target-hasher.js';

/** The result of a lookup. */
export const CacheResult = {
  miss: 0,
  /** A valid answer, or a recent failure. */
  fresh: 1,
  /** A popular answer that is valid but expires soon: refresh it now. */
  expiring: 2,
  /** An expired answer, to be served only when there is no other (RFC 8767). */
  stale: 3,
  /** An expired answer, and a refresh has just failed. */
  failing: 4,
} as const;
export type CacheResult = (typeof CacheResult)[keyof typeof CacheResult];

/** For how long an expired answer may be served, and the TTL that it then has (RFC 8767 §5 and §4). */
const STALE_SECONDS = 86_400;
const STALE_TTL_SECONDS = 30;
/** For how long an upstream failure is cached (RFC 2308 §7; RFC 9520 §3.2 allows 1 s … 5 min). */
const FAILURE_SECONDS = 5;
/** A popular answer is refreshed in the last tenth of its lifetime. It is popular after this many hits. */
const PREFETCH_LIFE_FRACTION = 10;
const MIN_PREFETCH_HITS = 2 * Use.oneHit;
/** 34 years. Keeps all times of an entry within 31 bits. */
const MAX_LIFE_SECONDS = 2 ** 30;
/** Larger answers are not cached. */
const MAX_ENTRY_WORDS = 4096;

/** Plain counters, read by the metrics. */
export interface CacheCounters {
  hits: number;
  misses: number;
  /** Expired answers that were served. */
  stale: number;
  /** Answers that were refreshed before they expired. */
  prefetches: number;
}

/**
 * Caches the answers of upstream resolvers by question: name, type, DO and CD. NXDOMAIN of the name itself holds for
 * all its types, so it is cached without the type (RFC 2308 §5). A hit becomes a `Response` like that of an upstream,
 * with its TTLs counted down, and passes the same policy checks. Nothing in here depends on the client. A lookup
 * allocates nothing.
 *
 * Seconds are those of a monotonic clock, passed in by the caller.
 */
export class AnswerCache {
  readonly counters: CacheCounters = { hits: 0, misses: 0, stale: 0, prefetches: 0 };
  private readonly store: AnswerStore;
  private readonly codec: EntryCodec;
  private readonly cacheTtl = new CacheTtl();
  /** Those of the answer that is being stored. */
  private readonly newTargets = new TargetHashes();
  /** Offset of the entry that `find` returned. */
  private entry = -1;
  private nowSeconds = 0;

  /**
   * @param sizeBytes total memory, 64 KiB or more
   * @param minTtlSeconds, maxTtlSeconds limits for the TTLs of what is cached; the upper one wins
   * @param targetHasher computes what `targets` returns. Null: nobody asks for it.
   */
  constructor(
    sizeBytes: number,
    private readonly minTtlSeconds = 0,
    private readonly maxTtlSeconds = MAX_LIFE_SECONDS,
    private readonly targetHasher: TargetHasher | null = null,
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

  /** Entries that were evicted while they were still useful. */
  get evictions(): number {
    return this.store.evictions;
  }

  /** Looks a question up and counts the lookup. `read` or `readStale` may follow at once, with the same query. */
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

  /** Whether there is an expired answer that may be served; `readStale` may follow. Counts nothing. */
  findStale(question: Question, nowSeconds: number): boolean {
    this.nowSeconds = nowSeconds;
    this.entry = this.findEntry(question);
    return this.entry >= 0 && !this.isDisposable(this.entry) && !this.isFailure(this.entry);
  }

  /**
   * After a miss: a fresh NXDOMAIN of a name above that of the question, as its answer, since nothing exists below such
   * a name (RFC 8020). Counts as a hit. Valid until the next call of any method of the cache.
   * @param hashes of the suffixes of the qname
   */
  readAbove(question: Question, hashes: SuffixHashes, nowSeconds: number): Response | null {
    const { bytes, query } = question;
    const key = nameKey(query);
    let nameAt = HEADER_BYTES;
    for (let i = hashes.count - 2; i >= 0; i--) {
      nameAt += bytes[nameAt] + 1;
      const nameBytes = query.questionEnd - QUESTION_FIXED_BYTES - nameAt;
      const low = hashes.low[i] | 0;
      const high = hashes.high[i] | 0;
      const at = this.store.find(low, high, key, bytes, nameBytes, nameAt);
      if (at < 0 || nowSeconds >= this.store.words[at + Head.expiresAt]) continue;
      const entryQuestionEnd = HEADER_BYTES + nameBytes + QUESTION_FIXED_BYTES;
      const response = this.codec.readBelow(at, entryQuestionEnd, question, nowSeconds);
      if (response === null) continue;
      this.countHit(at);
      this.counters.misses--;
      this.counters.hits++;
      return response;
    }
    return null;
  }

  /** The fresh entry of the last lookup. Valid until the next call of any method of the cache. */
  read(query: Query): Response {
    return this.codec.read(this.entry, query, this.nowSeconds);
  }

  /**
   * The expired entry of the last lookup, with EDE 3 or 19 (RFC 8914 §4.4, §4.20). Valid until the next call of any
   * method of the cache.
   */
  readStale(query: Query): Response {
    this.counters.stale++;
    this.countHit(this.entry);
    const response = this.codec.readWithTtl(this.entry, query, STALE_TTL_SECONDS);
    const isNegative = response.rcode === Rcode.nxDomain;
    response.ede = isNegative ? Ede.staleNxDomainAnswer : Ede.staleAnswer;
    return response;
  }

  /** The hashes of the targets of the answer that was read last. Valid as long as that. */
  get targets(): TargetHashes {
    return this.codec.targets;
  }

  /** The entry of the last lookup is being refreshed. It is not `expiring` again unless that fails. */
  markRefreshing(): void {
    this.counters.prefetches++;
    this.store.words[this.entry + Head.use] |= Use.refreshing;
  }

  /** Stores the answer of an upstream, if it is cacheable. A failure never replaces a useful answer. */
  put(question: Question, response: Response, nowSeconds: number): void {
    this.nowSeconds = nowSeconds;
    if (!hasUsableRcode(response)) {
      this.putFailure(question, response.rcode, response.ede, nowSeconds);
      return;
    }
    const { cacheTtl, store } = this;
    const { query } = question;
    cacheTtl.read(response, query.qtype);
    // After a CNAME, NXDOMAIN is about another name (RFC 6604 §3).
    const isOfName = response.rcode === Rcode.nxDomain && response.answerCount === 0;
    const key = isOfName ? nameKey(query) : questionKey(query);
    // The new answer is right, so the old ones are wrong.
    const contradicted = this.findByKey(question, isOfName ? questionKey(query) : nameKey(query));
    if (contradicted >= 0) store.drop(contradicted);
    const old = this.findByKey(question, key);
    if (cacheTtl.kind === CacheKind.uncacheable) {
      if (old >= 0) store.drop(old);
      return;
    }
    const maxTtl = Math.min(this.maxTtlSeconds, MAX_LIFE_SECONDS);
    const minTtl = Math.min(this.minTtlSeconds, maxTtl);
    const lifeSeconds = Math.min(Math.max(cacheTtl.seconds, minTtl), maxTtl);
    const maxRecordTtl = cacheTtl.kind === CacheKind.negative ? lifeSeconds : maxTtl;
    const { newTargets, codec } = this;
    this.targetHasher?.compute(response, newTargets);
    const { recordsEnd, ttlCount } = response;
    const at = this.allocate(question, key, old, recordsEnd, ttlCount, newTargets.size);
    if (at < 0) return;
    codec.write(at, response, newTargets, nowSeconds, lifeSeconds, minTtl, maxRecordTtl);
  }

  /**
   * Caches for some seconds that no upstream had an answer to the question.
   * @param rcode below 16
   * @param ede for the client; `Ede.none` becomes 13
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
    const at = this.allocate(question, questionKey(query), old, query.questionEnd, 0, 0);
    if (at < 0) return;
    const infoCode = ede === Ede.none ? Ede.cachedError : ede;
    const { questionEnd } = query;
    this.codec.writeFailure(at, bytes, questionEnd, rcode, infoCode, nowSeconds, FAILURE_SECONDS);
  }

  /**
   * Removes the answers and failures of these names, in pieces. The cache may be used between the pieces.
   * @yields the number of entries that the piece has removed
   */
  flush(names: NameRange): Generator<number> {
    const { store } = this;
    const { words, bytes } = store;
    return store.dropMatching((at) => {
      const nameAt = store.messageAt(at) * 4;
      const isNxDomain = isNameKey(words[at + Head.key]);
      return isNxDomain ? names.hasNxDomain(bytes, nameAt) : names.has(bytes, nameAt);
    });
  }

  /** Removes everything at once. @returns the number of entries */
  flushAll(): number {
    const { entries } = this;
    this.store.clear();
    return entries;
  }

  /** The entry of the question, unless that is of no use now and the name is known not to exist. */
  private findEntry(question: Question): number {
    const at = this.findByKey(question, questionKey(question.query));
    const isValid = at >= 0 && this.nowSeconds < this.store.words[at + Head.expiresAt];
    if (isValid && !this.isFailure(at)) return at;
    const nxDomainAt = this.findByKey(question, nameKey(question.query));
    return nxDomainAt >= 0 && !this.isDisposable(nxDomainAt) ? nxDomainAt : at;
  }

  private findByKey(question: Question, key: number): number {
    const { bytes, query, nameHashLow, nameHashHigh } = question;
    const nameBytes = query.questionEnd - QUESTION_FIXED_BYTES - HEADER_BYTES;
    return this.store.find(nameHashLow, nameHashHigh, key, bytes, nameBytes);
  }

  private stateOf(at: number, nowSeconds: number): CacheResult {
    const { words } = this.store;
    const leftSeconds = words[at + Head.expiresAt] - nowSeconds;
    const use = words[at + Head.use];
    if (leftSeconds > 0) {
      const canRefresh = (use & (Use.refreshing | Use.failure)) === 0;
      const isPopular = (use & Use.hits) >= MIN_PREFETCH_HITS;
      if (!canRefresh || !isPopular || nowSeconds < words[at + Head.retryAt])
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

  /** Whether the entry is of no use to any client. */
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

  private allocate(
    { nameHashLow, nameHashHigh }: Question,
    key: number,
    old: number,
    recordsEnd: number,
    ttlCount: number,
    targetWords: number,
  ): number {
    const size = entryWords(recordsEnd, HEADER_BYTES, ttlCount, targetWords);
    const { store } = this;
    if (size > MAX_ENTRY_WORDS || size > store.maxEntryWords) {
      if (old >= 0) store.drop(old);
      return -1;
    }
    return store.allocate(nameHashLow, nameHashHigh, key, old, size);
  }
}
