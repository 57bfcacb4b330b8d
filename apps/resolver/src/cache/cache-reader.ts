import type { SuffixHashes } from '@weir/dns-name';
import { Ede, HEADER_BYTES, type Query, QUESTION_FIXED_BYTES, Rcode } from '@weir/dns-wire';
import { ReadSide } from '@weir/policy';
import { nameKey, type Question, questionKey } from '../query/question.js';
import { type CacheMemory, countersOf, Lookup, State } from './cache-memory.js';
import { type CachedAnswer, EntryReader } from './entry-codec.js';
import { EntryTable, Head } from './entry-table.js';

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

/** After an upstream has failed, an answer is not refreshed for so long (RFC 8767 §5). */
export const RETRY_SECONDS = 30;
/** For how long an expired answer may be served, and the TTL that it then has (RFC 8767 §5 and §4). */
const STALE_SECONDS = 86_400;
const STALE_TTL_SECONDS = 30;
/** A popular answer is refreshed in the last tenth of its lifetime. It is popular after this many hits. */
const PREFETCH_LIFE_FRACTION = 10;
const MIN_PREFETCH_HITS = 2;

/**
 * Looks answers up in memory that several threads read and write: between `enter` and `leave`, where a method does not
 * say that it enters by itself. A hit becomes a `Response` like that of an upstream, with its TTLs counted down, and
 * passes the same policy checks. Nothing in here depends on the client. A lookup allocates nothing: all answers are the
 * same object, valid until the next call of any method of the cache.
 *
 * Seconds are those of a monotonic clock, the same in all threads, passed in by the caller.
 */
export class CacheReader {
  /** Lookups of this thread, see `Lookup`. */
  protected readonly counts: Float64Array;
  protected readonly table: EntryTable;
  /** See `State`. */
  protected readonly state: Int32Array;
  private readonly readSide: ReadSide;
  private readonly entryReader: EntryReader;
  /** Offset of the entry that `find` returned. */
  private entry = -1;
  protected nowSeconds = 0;

  /** @param thread the number of this thread */
  constructor(memory: CacheMemory, thread: number, onStuck?: () => void) {
    this.table = new EntryTable(memory);
    this.state = new Int32Array(memory.state);
    this.readSide = new ReadSide(memory.lock, thread, onStuck);
    this.entryReader = new EntryReader(this.table);
    this.counts = countersOf(memory, thread);
  }

  /**
   * A lookup begins; waits while another thread writes. Until `leave`, no answer is stored: writers wait. So call
   * `leave` after one lookup, and neither make a system call nor write before it. What was read is a copy, which stays
   * valid after `leave`.
   */
  enter(): void {
    this.readSide.enter();
  }

  leave(): void {
    this.readSide.leave();
  }

  /** Looks a question up and counts the lookup. `read` or `readStale` may follow at once, with the same query. */
  find(question: Question, nowSeconds: number): CacheResult {
    this.nowSeconds = nowSeconds;
    const at = this.findEntry(question);
    this.entry = at;
    const found = at < 0 ? CacheResult.miss : this.stateOf(at, nowSeconds);
    if (found === CacheResult.fresh || found === CacheResult.expiring) {
      this.counts[Lookup.hit]++;
      this.table.countHit(at);
    } else {
      this.counts[Lookup.miss]++;
    }
    return found;
  }

  /** Whether there is an expired answer that may be served; `readStale` may follow. Counts nothing. */
  findStale(question: Question, nowSeconds: number): boolean {
    this.nowSeconds = nowSeconds;
    this.entry = this.findEntry(question);
    return this.entry >= 0 && !this.isDisposable(this.entry) && !this.table.isFailure(this.entry);
  }

  /**
   * After a miss: a fresh NXDOMAIN of a name above that of the question, as its answer, since nothing exists below such
   * a name (RFC 8020). Counts as a hit.
   * @param hashes of the suffixes of the qname
   */
  readAbove(question: Question, hashes: SuffixHashes, nowSeconds: number): CachedAnswer | null {
    const { bytes, query } = question;
    const key = nameKey(query);
    let nameAt = HEADER_BYTES;
    for (let i = hashes.count - 2; i >= 0; i--) {
      nameAt += bytes[nameAt] + 1;
      const nameBytes = query.questionEnd - QUESTION_FIXED_BYTES - nameAt;
      const low = hashes.low[i] | 0;
      const high = hashes.high[i] | 0;
      const at = this.table.find(low, high, key, bytes, nameBytes, nameAt);
      if (at < 0 || nowSeconds >= this.table.words[at + Head.expiresAt]) continue;
      const entryQuestionEnd = HEADER_BYTES + nameBytes + QUESTION_FIXED_BYTES;
      const answer = this.entryReader.readBelow(at, entryQuestionEnd, question, nowSeconds);
      if (answer === null) continue;
      this.table.countHit(at);
      this.counts[Lookup.miss]--;
      this.counts[Lookup.hit]++;
      return answer;
    }
    return null;
  }

  /** The fresh entry of the last lookup. */
  read(query: Query): CachedAnswer {
    return this.entryReader.read(this.entry, query, this.nowSeconds);
  }

  /** The expired entry of the last lookup, with EDE 3 or 19 (RFC 8914 §4.4, §4.20). */
  readStale(query: Query): CachedAnswer {
    this.counts[Lookup.stale]++;
    this.table.countHit(this.entry);
    const answer = this.entryReader.readWithTtl(this.entry, query, STALE_TTL_SECONDS);
    const { response } = answer;
    const isNegative = response.rcode === Rcode.nxDomain;
    response.ede = isNegative ? Ede.staleNxDomainAnswer : Ede.staleAnswer;
    return answer;
  }

  /**
   * Claims the refresh of the entry of the last lookup. It is not `expiring` again, for any thread, for ten seconds,
   * unless the refresh fails or does not take place (`cancelRefreshOf`).
   * @returns false: another thread has just claimed it
   */
  beginRefresh(): boolean {
    return this.table.beginRefresh(this.entry, this.nowSeconds);
  }

  /**
   * The answer to the question is not refreshed after all. The next hit tries again. What was read before stays valid.
   * Enters by itself.
   */
  cancelRefreshOf(question: Question, nowSeconds: number): void {
    this.nowSeconds = nowSeconds;
    this.enter();
    try {
      const at = this.findEntry(question);
      if (at >= 0) this.table.endRefresh(at);
    } finally {
      this.leave();
    }
  }

  /** The entry of the question, unless that is of no use now and the name is known not to exist. */
  protected findEntry(question: Question): number {
    const at = this.findByKey(question, questionKey(question.query));
    const isValid = at >= 0 && this.nowSeconds < this.table.words[at + Head.expiresAt];
    if (isValid && !this.table.isFailure(at)) return at;
    const nxDomainAt = this.findByKey(question, nameKey(question.query));
    return nxDomainAt >= 0 && !this.isDisposable(nxDomainAt) ? nxDomainAt : at;
  }

  protected findByKey(question: Question, key: number): number {
    const { bytes, query, nameHashLow, nameHashHigh } = question;
    const nameBytes = query.questionEnd - QUESTION_FIXED_BYTES - HEADER_BYTES;
    return this.table.find(nameHashLow, nameHashHigh, key, bytes, nameBytes);
  }

  private stateOf(at: number, nowSeconds: number): CacheResult {
    const { words } = this.table;
    const leftSeconds = words[at + Head.expiresAt] - nowSeconds;
    if (this.table.isFailure(at)) {
      return this.isDisposable(at) ? CacheResult.miss : CacheResult.fresh;
    }
    if (leftSeconds > 0) {
      const canRefresh = !this.table.isRefreshing(at, nowSeconds) && !this.hasJustFailed(at);
      const isPopular = this.table.storedHits(at) >= MIN_PREFETCH_HITS;
      if (!canRefresh || !isPopular) return CacheResult.fresh;
      const lifeSeconds = words[at + Head.expiresAt] - words[at + Head.storedAt];
      return leftSeconds * PREFETCH_LIFE_FRACTION <= lifeSeconds
        ? CacheResult.expiring
        : CacheResult.fresh;
    }
    if (this.isDisposable(at)) return CacheResult.miss;
    return this.hasJustFailed(at) ? CacheResult.failing : CacheResult.stale;
  }

  private hasJustFailed(at: number): boolean {
    const retryAt = this.table.words[at + Head.retryAt];
    return this.nowSeconds < retryAt && retryAt - RETRY_SECONDS > this.state[State.retry];
  }

  /** Whether the entry is of no use to any client. */
  protected isDisposable(at: number): boolean {
    const { words } = this.table;
    const expiresAt = words[at + Head.expiresAt];
    if (!this.table.isFailure(at)) return this.nowSeconds >= expiresAt + STALE_SECONDS;
    return this.nowSeconds >= expiresAt || words[at + Head.storedAt] <= this.state[State.retry];
  }
}
