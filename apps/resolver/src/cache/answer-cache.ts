import { CacheKind, CacheTtl, Ede, hasUsableRcode, Rcode, type Response } from '@weir/dns-wire';
import { WriteSide } from '@weir/policy';
import type { NameRange } from '../query/name-range.js';
import { isNameKey, nameKey, type Question, questionKey } from '../query/question.js';
import { type TargetHasher, TargetHashes } from '@weir/policy/answers';
import { AnswerStore } from './answer-store.js';
import {
  type CacheInvitation,
  type CacheMemory,
  createCacheMemory,
  type CacheCounters,
  totalCounters,
  Lookup,
} from './cache-memory.js';
import { CacheReader, RETRY_SECONDS } from './cache-reader.js';
import { CacheSweep } from './cache-sweep.js';
import { EntryWriter } from './entry-codec.js';
import { entryWords, Head } from './entry-table.js';

/** Milliseconds for which the writer waits for each reader. */
const MAX_NAPS = 3;
/** After tries in vain, at most this many writes are given up without a try. */
const MAX_GIVEN_UP = 64;

/** The readers of a cache in other threads, as its writer sees them. */
class CacheReaders {
  private readonly writeSide: WriteSide;
  /** Writes to give up without a try after the next one in vain, and now. So a thread that hangs costs little time. */
  private toGiveUp = 0;
  private leftToGiveUp = 0;

  constructor(lock: SharedArrayBuffer) {
    this.writeSide = new WriteSide(lock);
  }

  /** Keeps readers out until `admit`. @returns false: one did not leave in time, and nothing may be written */
  tryExclude(): boolean {
    if (this.leftToGiveUp > 0) {
      this.leftToGiveUp--;
      return false;
    }
    const isDone = this.writeSide.tryEnter(MAX_NAPS);
    this.leftToGiveUp = isDone ? 0 : this.toGiveUp;
    this.toGiveUp = isDone ? 0 : Math.min(2 * this.toGiveUp + 1, MAX_GIVEN_UP);
    return isDone;
  }

  admit(): void {
    this.writeSide.leave();
  }
}

/**
 * For how long an upstream failure is cached, at first and at most; each one that follows within `MAX_FAILURE_SECONDS`,
 * twice as long as the one before (RFC 2308 §7, RFC 9520 §3.2).
 */
const FAILURE_SECONDS = 5;
const MAX_FAILURE_SECONDS = 300;
/** Before all times. */
const NEVER = -(2 ** 30);
/** 34 years. Keeps all times of an entry within 31 bits. */
const MAX_LIFE_SECONDS = 2 ** 30;

export interface AnswerCacheOptions {
  /** Total memory, 64 KiB or more. */
  readonly sizeBytes: number;
  /** Limits for the TTLs of what is cached; the upper one wins. */
  readonly minTtlSeconds?: number;
  readonly maxTtlSeconds?: number | undefined;
  /** Computes what `targets` returns. Null: nobody asks for it. */
  readonly targetHasher?: TargetHasher | null;
  /** Most readers in other threads. */
  readonly readers?: number;
}

/**
 * Caches the answers of upstream resolvers by question: name, type, DO and CD. NXDOMAIN of the name itself holds for
 * all its types, so it is cached without the type (RFC 2308 §5). This is the thread that writes; others look up in the
 * same memory (`connect`).
 *
 * An answer is not kept when a reader does not leave in time: nothing but speed is lost.
 */
export class AnswerCache extends CacheReader {
  /** Answers and failures not kept because a reader did not leave in time, or everything was being removed. */
  skippedWrites = 0;
  private readonly memory: CacheMemory;
  private readonly store: AnswerStore;
  private readonly entryWriter: EntryWriter;
  private readonly sweep: CacheSweep;
  private readonly readers: CacheReaders;
  private readonly minTtlSeconds: number;
  private readonly maxTtlSeconds: number;
  private readonly cacheTtl = new CacheTtl();
  /** Those of the answer that is being stored. */
  private readonly newTargets = new TargetHashes();

  constructor(private readonly options: AnswerCacheOptions) {
    const memory = createCacheMemory(options.sizeBytes, options.readers ?? 0);
    super(memory, 0);
    this.memory = memory;
    this.retry[0] = NEVER;
    this.store = new AnswerStore(memory, this.table, (at) => this.isDisposable(at));
    this.entryWriter = new EntryWriter(this.table);
    this.readers = new CacheReaders(memory.lock);
    this.sweep = new CacheSweep(this.store);
    this.maxTtlSeconds = Math.min(options.maxTtlSeconds ?? MAX_LIFE_SECONDS, MAX_LIFE_SECONDS);
    this.minTtlSeconds = Math.min(options.minTtlSeconds ?? 0, this.maxTtlSeconds);
  }

  get entries(): number {
    return this.store.entries;
  }

  /** Bytes in use: the index, and the entries with the gaps between them. */
  get usedBytes(): number {
    return this.options.sizeBytes - this.store.freeWords * 4;
  }

  /** Entries that were evicted while they were still useful. */
  get evictions(): number {
    return this.store.evictions;
  }

  /** Of all threads. */
  get counters(): CacheCounters {
    return totalCounters(this.memory);
  }

  /**
   * Adds a reader.
   * @param reader a number from 0, below `readers`, that no other reader has
   * @returns what `SharedCache` in its thread is made from
   */
  connect(reader: number): CacheInvitation {
    return { memory: this.memory, reader };
  }

  /** Stores the answer of an upstream, if it is cacheable. A failure never replaces a useful answer. */
  put(question: Question, response: Response, nowSeconds: number): void {
    this.nowSeconds = nowSeconds;
    if (!hasUsableRcode(response)) {
      this.putFailure(question, response.rcode, response.ede, nowSeconds);
      return;
    }
    this.cacheTtl.read(response, question.query.qtype);
    this.options.targetHasher?.compute(response, this.newTargets);
    let isDone = false;
    while (!isDone && this.tryExclude()) {
      try {
        isDone = this.replace(question, response);
      } finally {
        this.readers.admit();
      }
    }
  }

  /**
   * Caches for a while that no upstream had an answer to the question.
   * @param rcode below 16
   * @param ede for the client; `Ede.none` becomes 13
   */
  putFailure(question: Question, rcode: number, ede: number, nowSeconds: number): void {
    this.nowSeconds = nowSeconds;
    let isDone = false;
    while (!isDone && this.tryExclude()) {
      try {
        isDone = this.replaceByFailure(question, rcode, ede);
      } finally {
        this.readers.admit();
      }
    }
  }

  /** An upstream answers again that was down: what has failed until now may be asked again at once. */
  retryFailures(nowSeconds: number): void {
    this.retry[0] = nowSeconds;
  }

  /** The refresh that another thread has claimed does not take place. */
  cancelRefreshOf(question: Question): void {
    const at = this.findByKey(question, questionKey(question.query));
    if (at >= 0) this.table.endRefresh(at);
    const nxDomainAt = this.findByKey(question, nameKey(question.query));
    if (nxDomainAt >= 0) this.table.endRefresh(nxDomainAt);
  }

  /**
   * Removes the answers and failures of these names, in pieces. The cache may be used between the pieces, except for
   * another flush.
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

  /** Removes everything, in the same way. Until that is done, nothing new is kept. */
  flushAll(): Generator<number> {
    return this.sweep.clear();
  }

  /** @returns false when many entries had to be evicted: call it again, after the readers had their turn */
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
    if (old >= 0 && !table.isFailure(old) && !this.isDisposable(old)) {
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

  /** @param old the entry of the question, or −1 */
  private failureSecondsAfter(old: number): number {
    const { table, nowSeconds } = this;
    const { words } = table;
    if (old < 0 || !table.isFailure(old) || words[old + Head.storedAt] <= this.retry[0]) {
      return FAILURE_SECONDS;
    }
    const expiresAt = words[old + Head.expiresAt];
    if (nowSeconds >= expiresAt + MAX_FAILURE_SECONDS) return FAILURE_SECONDS;
    return Math.min(2 * (expiresAt - words[old + Head.storedAt]), MAX_FAILURE_SECONDS);
  }

  private tryExclude(): boolean {
    const isDone = !this.sweep.isClearing && this.readers.tryExclude();
    if (!isDone) this.skippedWrites++;
    return isDone;
  }
}
