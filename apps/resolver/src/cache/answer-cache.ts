import {
  Ede,
  HEADER_BYTES,
  isAboutName,
  Keeping,
  Lifetime,
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
export const Found = {
  nothing: 0,
  /** An answer, or a failure that was a moment ago. */
  fresh: 1,
  /** A fresh answer that is asked for often and expires soon: renew it now. */
  ageing: 2,
  /** An answer that has expired: only to be given when there is no other (RFC 8767). */
  stale: 3,
  /** The same, and no other was to be had a moment ago. */
  failing: 4,
} as const;
export type Found = (typeof Found)[keyof typeof Found];

/** How long an expired answer may still be given, and the TTL that it then has (RFC 8767 §5 and §4). */
const STALE_SECONDS = 86_400;
const STALE_TTL_SECONDS = 30;
/** How long a failure of upstream is remembered (RFC 2308 §7, RFC 9520 §3.2: 1 s … 5 min). */
const FAILURE_SECONDS = 5;
/** An answer is renewed in the last tenth of its life, if it was hit this often. */
const AGEING_SHARE = 10;
const HITS_TO_RENEW = 2 * Use.oneHit;
/** Keeps all times of an entry within 31 bits; 34 years. */
const LONGEST_LIFE_SECONDS = 2 ** 30;
/** Larger answers are not kept. */
const LARGEST_ENTRY_WORDS = 4096;

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
  private readonly lifetime = new Lifetime();
  /** Offset of the entry that `find` has found. */
  private found = -1;
  private nowSeconds = 0;

  /**
   * @param sizeBytes memory for all, 64 KiB or more
   * @param minTtlSeconds, maxTtlSeconds bounds on the TTLs of what is kept; the upper one counts more
   */
  constructor(
    sizeBytes: number,
    private readonly minTtlSeconds = 0,
    private readonly maxTtlSeconds = LONGEST_LIFE_SECONDS,
  ) {
    this.store = new AnswerStore(sizeBytes, (at) => this.isUseless(at));
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
  find(question: Question, nowSeconds: number): Found {
    this.nowSeconds = nowSeconds;
    const at = this.seek(question);
    this.found = at;
    const found = at < 0 ? Found.nothing : this.stateOf(at, nowSeconds);
    if (found === Found.fresh || found === Found.ageing) {
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
    this.found = this.seek(question);
    return this.found >= 0 && !this.isUseless(this.found) && !this.isFailure(this.found);
  }

  /** The fresh entry that was found. Good until the next call of any method here. */
  read(query: Query): Response {
    return this.codec.read(this.found, query, this.nowSeconds);
  }

  /** The expired entry that was found, with EDE 3 or 19 (RFC 8914 §4.4, §4.20). Good until the next call of any method here. */
  readStale(query: Query): Response {
    this.counters.stale++;
    this.countHit(this.found);
    const response = this.codec.readWithTtl(this.found, query, STALE_TTL_SECONDS);
    const isNegative = response.rcode === Rcode.nxDomain;
    response.ede = isNegative ? Ede.staleNxDomainAnswer : Ede.staleAnswer;
    return response;
  }

  /** The entry that was found is being renewed: it is not `ageing` any more until that has failed. */
  renewing(): void {
    this.counters.prefetches++;
    this.store.words[this.found + Head.use] |= Use.renewing;
  }

  /** Keeps an upstream's answer to the question, if it may be kept. A failure never replaces an answer that is still of use. */
  keep(question: Question, response: Response, nowSeconds: number): void {
    this.nowSeconds = nowSeconds;
    if (!isAboutName(response)) {
      this.keepFailure(question, response.rcode, response.ede, nowSeconds);
      return;
    }
    const { lifetime } = this;
    lifetime.read(response, question.query.qtype);
    const old = this.seek(question);
    if (lifetime.keeping === Keeping.not) {
      // It is the truth now, so what was here before is not.
      if (old >= 0) this.store.drop(old);
      return;
    }
    const longest = Math.min(this.maxTtlSeconds, LONGEST_LIFE_SECONDS);
    const shortest = Math.min(this.minTtlSeconds, longest);
    const seconds = Math.min(Math.max(lifetime.seconds, shortest), longest);
    const highest = lifetime.keeping === Keeping.negative ? seconds : longest;
    const at = this.allocate(question, old, response.recordsEnd, response.ttlCount);
    if (at >= 0) this.codec.write(at, response, nowSeconds, seconds, shortest, highest);
  }

  /**
   * Remembers for some seconds that no upstream had an answer to the question.
   * @param rcode below 16, @param ede what a client is told; `Ede.none` becomes 13
   */
  keepFailure(question: Question, rcode: number, ede: number, nowSeconds: number): void {
    this.nowSeconds = nowSeconds;
    const { words } = this.store;
    const old = this.seek(question);
    if (old >= 0 && !this.isFailure(old) && !this.isUseless(old)) {
      words[old + Head.retryAt] = nowSeconds + FAILURE_SECONDS;
      words[old + Head.use] &= ~Use.renewing;
      return;
    }
    const { bytes, query } = question;
    const at = this.allocate(question, old, query.questionEnd, 0);
    if (at < 0) return;
    const told = ede === Ede.none ? Ede.cachedError : ede;
    const { questionEnd } = query;
    this.codec.writeFailure(at, bytes, questionEnd, rcode, told, nowSeconds, FAILURE_SECONDS);
  }

  private seek({ bytes, query, nameLow, nameHigh }: Question): number {
    const nameBytes = query.questionEnd - QUESTION_FIXED_BYTES - HEADER_BYTES;
    return this.store.find(nameLow, nameHigh, questionKey(query), bytes, nameBytes);
  }

  private stateOf(at: number, nowSeconds: number): Found {
    const { words } = this.store;
    const leftSeconds = words[at + Head.expiresAt] - nowSeconds;
    const use = words[at + Head.use];
    if (leftSeconds > 0) {
      const mayRenew = (use & (Use.renewing | Use.failure)) === 0;
      const isPopular = (use & Use.hits) >= HITS_TO_RENEW;
      if (!mayRenew || !isPopular || nowSeconds < words[at + Head.retryAt]) return Found.fresh;
      const lifeSeconds = words[at + Head.expiresAt] - words[at + Head.storedAt];
      return leftSeconds * AGEING_SHARE <= lifeSeconds ? Found.ageing : Found.fresh;
    }
    if (this.isUseless(at)) return Found.nothing;
    return nowSeconds < words[at + Head.retryAt] ? Found.failing : Found.stale;
  }

  private isFailure(at: number): boolean {
    return (this.store.words[at + Head.use] & Use.failure) !== 0;
  }

  /** Whether the entry can serve nobody any more. */
  private isUseless(at: number): boolean {
    const expiresAt = this.store.words[at + Head.expiresAt];
    const usefulUntil = this.isFailure(at) ? expiresAt : expiresAt + STALE_SECONDS;
    return this.nowSeconds >= usefulUntil;
  }

  private countHit(at: number): void {
    const { words } = this.store;
    let use = words[at + Head.use];
    if ((use & Use.spared) !== Use.spared) use++;
    if ((use & Use.hits) !== Use.hits) use += Use.oneHit;
    words[at + Head.use] = use;
  }

  private allocate(question: Question, old: number, recordsEnd: number, ttlCount: number): number {
    const size = entryWords(recordsEnd, HEADER_BYTES, ttlCount);
    const { store } = this;
    if (size > LARGEST_ENTRY_WORDS || size > store.largestEntry) {
      if (old >= 0) store.drop(old);
      return -1;
    }
    const { nameLow, nameHigh, query } = question;
    return store.allocate(nameLow, nameHigh, questionKey(query), old, size);
  }
}
