import { CacheKind, CacheTtl, Ede, hasUsableRcode, Rcode, type Response } from '@weir/dns-wire';
import type { NameRange } from '../query/name-range.js';
import { isNameKey, nameKey, type Question, questionKey } from '../query/question.js';
import { type TargetHasher, TargetHashes } from '@weir/policy/answers';
import { AnswerStore } from './answer-store.js';
import {
  type CacheCounters,
  type CacheMemory,
  Lookup,
  SKIPPED_WRITES,
  State,
  totalCounters,
  totalOf,
} from './cache-memory.js';
import { CacheReader, RETRY_SECONDS } from './cache-reader.js';
import { CacheSweep } from './cache-sweep.js';
import { EntryWriter } from './entry-codec.js';
import { entryWords, Head } from './entry-table.js';
import { WriteMutex, CacheWriteLock } from './write-lock.js';

/**
 * For how long an upstream failure is cached, at first and at most; each one that follows within `MAX_FAILURE_SECONDS`,
 * twice as long as the one before (RFC 2308 §7, RFC 9520 §3.2).
 */
const FAILURE_SECONDS = 5;
const MAX_FAILURE_SECONDS = 300;
/** 34 years. Keeps all times of an entry within 31 bits. */
const MAX_LIFE_SECONDS = 2 ** 30;

export interface AnswerCacheOptions {
  /** Made once for all threads (`createCacheMemory`). */
  readonly memory: CacheMemory;
  readonly thread: number;
  /** Limits for the TTLs of what is cached; the upper one wins. */
  readonly minTtlSeconds?: number;
  readonly maxTtlSeconds?: number | undefined;
  /** Computes what `targets` returns. Null: nobody asks for it. */
  readonly targetHasher?: TargetHasher | null;
  /** See `ReadSide`: a thread has died or loops in the middle of a write. */
  readonly onStuck?: () => void;
}

/**
 * Caches the answers of upstream resolvers by question: name, type, DO and CD. NXDOMAIN of the name itself holds for
 * all its types, so it is cached without the type (RFC 2308 §5). Each thread has one over the same memory, and both
 * looks up and writes. Writes follow one another, outside the lookups of their own thread.
 *
 * An answer is not kept when another thread does not end its write or its lookup in time: nothing but speed is lost.
 */
export class AnswerCache extends CacheReader {
  private readonly memory: CacheMemory;
  private readonly store: AnswerStore;
  private readonly entryWriter: EntryWriter;
  private readonly sweep: CacheSweep;
  private readonly writeLock: CacheWriteLock;
  private readonly targetHasher: TargetHasher | null;
  private readonly minTtlSeconds: number;
  private readonly maxTtlSeconds: number;
  private readonly cacheTtl = new CacheTtl();
  /** Those of the answer that is being stored. */
  private readonly newTargets = new TargetHashes();

  constructor(options: AnswerCacheOptions) {
    const { memory, thread } = options;
    super(memory, thread, options.onStuck);
    this.memory = memory;
    this.store = new AnswerStore(memory, this.table, (at) => this.isDisposable(at));
    this.entryWriter = new EntryWriter(this.table);
    const mutex = new WriteMutex(memory);
    this.writeLock = new CacheWriteLock(memory, mutex);
    this.sweep = new CacheSweep(memory, this.store, mutex);
    this.targetHasher = options.targetHasher ?? null;
    this.maxTtlSeconds = Math.min(options.maxTtlSeconds ?? MAX_LIFE_SECONDS, MAX_LIFE_SECONDS);
    this.minTtlSeconds = Math.min(options.minTtlSeconds ?? 0, this.maxTtlSeconds);
  }

  get entries(): number {
    return this.store.entries;
  }

  /** Bytes in use: the index, and the entries with the gaps between them. */
  get usedBytes(): number {
    const { slots, ghosts, entries } = this.memory;
    const sizeBytes = slots.byteLength + ghosts.byteLength + entries.byteLength;
    return sizeBytes - this.store.freeWords * 4;
  }

  /** Entries that were evicted while they were still useful. */
  get evictions(): number {
    return this.store.evictions;
  }

  /** Lookups of all threads. */
  get counters(): CacheCounters {
    return totalCounters(this.memory);
  }

  /**
   * Answers and failures that all threads have not kept because another one did not end its write or its lookup in
   * time, or everything was being removed.
   */
  get skippedWrites(): number {
    return totalOf(this.memory, SKIPPED_WRITES);
  }

  /** Changes with each flush. Read it before a question is asked, and give it to `put` with the answer. */
  get generation(): number {
    return Atomics.load(this.state, State.generation);
  }

  /**
   * Stores the answer of an upstream, if it is cacheable. A failure never replaces a useful answer.
   * @param generation that of the moment when the question was asked. After a flush, nothing older is kept.
   */
  put(question: Question, response: Response, nowSeconds: number, generation: number): void {
    this.nowSeconds = nowSeconds;
    if (!hasUsableRcode(response)) {
      this.putFailure(question, response.rcode, response.ede, nowSeconds, generation);
      return;
    }
    this.cacheTtl.read(response, question.query.qtype);
    this.targetHasher?.compute(response, this.newTargets);
    let isDone = false;
    while (!isDone && this.tryBegin(generation)) {
      try {
        isDone = this.replace(question, response);
      } finally {
        this.writeLock.leave();
      }
    }
  }

  /**
   * Caches for a while that no upstream had an answer to the question.
   * @param rcode below 16
   * @param ede for the client; `Ede.none` becomes 13
   * @param generation as of `put`
   */
  putFailure(
    question: Question,
    rcode: number,
    ede: number,
    nowSeconds: number,
    generation: number,
  ): void {
    this.nowSeconds = nowSeconds;
    let isDone = false;
    while (!isDone && this.tryBegin(generation)) {
      try {
        isDone = this.replaceByFailure(question, rcode, ede);
      } finally {
        this.writeLock.leave();
      }
    }
  }

  /** An upstream answers again that was down: what has failed until now may be asked again at once. */
  retryFailures(nowSeconds: number): void {
    Atomics.store(this.state, State.retry, nowSeconds);
  }

  /**
   * Removes the answers and failures of these names, in pieces. Between the pieces all threads may use the cache,
   * except for another flush.
   * @yields the number of entries that the piece has removed
   */
  flush(names: NameRange): Generator<number> {
    const { table } = this;
    const { words, bytes } = table;
    return this.sweep.drop((at) => {
      const nameAt = table.messageAt(at) * 4;
      const isNxDomain = isNameKey(words[at + Head.key]);
      return isNxDomain ? names.hasNxDomain(bytes, nameAt) : names.has(bytes, nameAt);
    });
  }

  /** Removes everything, in the same way. Until that is done, no thread keeps anything new. */
  flushAll(): Generator<number> {
    return this.sweep.clear();
  }

  /** @returns false when many entries had to be evicted: call it again, after the readers could read */
  private replace(question: Question, response: Response): boolean {
    const { cacheTtl, store, newTargets, minTtlSeconds, maxTtlSeconds } = this;
    const { query } = question;
    // After a CNAME, NXDOMAIN is about another name (RFC 6604 §3).
    const isOfName = response.rcode === Rcode.nxDomain && response.answerCount === 0;
    const key = isOfName ? nameKey(query) : questionKey(query);
    // The new answer is right, so the old ones are wrong.
    const contradicted = this.findByKey(question, isOfName ? questionKey(query) : nameKey(query));
    if (contradicted >= 0) store.drop(contradicted);
    const old = this.findByKey(question, key);
    if (old >= 0 && this.table.isPrefetching(old, this.nowSeconds)) this.counts[Lookup.prefetch]++;
    if (cacheTtl.kind === CacheKind.uncacheable) {
      if (old >= 0) store.drop(old);
      return true;
    }
    const lifeSeconds = Math.min(Math.max(cacheTtl.seconds, minTtlSeconds), maxTtlSeconds);
    const maxRecordTtl = cacheTtl.kind === CacheKind.negative ? lifeSeconds : maxTtlSeconds;
    const { recordsEnd, ttlCount } = response;
    const size = entryWords(recordsEnd, ttlCount, newTargets.size);
    if (size > store.maxEntryWords) {
      if (old >= 0) store.drop(old);
      return true;
    }
    const { nameHashLow, nameHashHigh } = question;
    const at = store.allocate(nameHashLow, nameHashHigh, key, old, size);
    if (at === AnswerStore.unfinished) return false;
    const { entryWriter, nowSeconds } = this;
    entryWriter.write(
      at,
      response,
      newTargets,
      nowSeconds,
      lifeSeconds,
      minTtlSeconds,
      maxRecordTtl,
    );
    return true;
  }

  /** @returns as `replace` */
  private replaceByFailure(question: Question, rcode: number, ede: number): boolean {
    const { table, nowSeconds } = this;
    const old = this.findEntry(question);
    if (old >= 0 && !this.isDisposable(old)) {
      // Another thread has failed as well, or has a new answer already.
      if (table.isFailure(old) || this.isFresh(old)) return true;
      table.words[old + Head.retryAt] = nowSeconds + RETRY_SECONDS;
      table.endRefresh(old);
      return true;
    }
    const { bytes, query, nameHashLow, nameHashHigh } = question;
    const { questionEnd } = query;
    const size = entryWords(questionEnd, 0, 0);
    const key = questionKey(query);
    const lifeSeconds = this.failureSecondsAfter(old);
    const at = this.store.allocate(nameHashLow, nameHashHigh, key, old, size);
    if (at === AnswerStore.unfinished) return false;
    const infoCode = ede === Ede.none ? Ede.cachedError : ede;
    const { entryWriter } = this;
    entryWriter.writeFailure(at, bytes, questionEnd, rcode, infoCode, nowSeconds, lifeSeconds);
    return true;
  }

  /** Whether the answer is valid, and nobody is about to refresh it. */
  private isFresh(at: number): boolean {
    const { table, nowSeconds } = this;
    return nowSeconds < table.words[at + Head.expiresAt] && !table.isRefreshing(at, nowSeconds);
  }

  /** @param old the entry of the question, or −1 */
  private failureSecondsAfter(old: number): number {
    const { table, nowSeconds } = this;
    const { words } = table;
    if (old < 0 || !table.isFailure(old) || words[old + Head.storedAt] <= this.state[State.retry]) {
      return FAILURE_SECONDS;
    }
    const expiresAt = words[old + Head.expiresAt];
    if (nowSeconds >= expiresAt + MAX_FAILURE_SECONDS) return FAILURE_SECONDS;
    return Math.min(2 * (expiresAt - words[old + Head.storedAt]), MAX_FAILURE_SECONDS);
  }

  /** Begins to write, until `writeLock.leave`. @returns false: an answer of that generation is not kept */
  private tryBegin(generation: number): boolean {
    const { state, writeLock, counts } = this;
    if (!writeLock.tryEnter()) {
      counts[SKIPPED_WRITES]++;
      return false;
    }
    const isOutdated = state[State.generation] !== generation;
    const isClearing = state[State.clearing] !== 0;
    if (!isOutdated && !isClearing) return true;
    writeLock.leave();
    counts[SKIPPED_WRITES]++;
    return false;
  }
}
