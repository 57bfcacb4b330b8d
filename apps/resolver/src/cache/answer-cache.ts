import {
  Ede,
  Flag,
  HEADER_BYTES,
  isAboutName,
  Keeping,
  Lifetime,
  MAX_MESSAGE_BYTES,
  type Query,
  QUESTION_FIXED_BYTES,
  Rcode,
  readTtl,
  readUint32,
  Response,
  storedFlags,
  writeUint16,
  writeUint32,
} from '@weir/dns-wire';
import { type Question, questionKey } from '../query/question.js';
import { AnswerStore } from './answer-store.js';
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
const HEADER_WORDS = HEADER_BYTES / 4;

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
  /** What `read` and `readStale` fill. */
  readonly response = new Response();
  private readonly store: AnswerStore;
  private readonly lifetime = new Lifetime();
  private readonly message = new Int32Array((MAX_MESSAGE_BYTES + 1) / 4);
  private readonly messageBytes = new Uint8Array(this.message.buffer);
  /** Offset of the entry that `find` has found. */
  private found = -1;
  private nowSeconds = 0;

  /** @param sizeBytes memory for all, 64 KiB or more */
  constructor(sizeBytes: number) {
    this.store = new AnswerStore(sizeBytes, (at) => this.isUseless(at));
    this.response.bytes = this.messageBytes;
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
    const { words } = this.store;
    const { found, response } = this;
    this.load(found, query);
    const ageSeconds = this.nowSeconds - words[found + Head.storedAt];
    for (let i = 0; i < response.ttlCount; i++) {
      const ttlAt = response.ttlOffsets[i];
      writeUint32(this.messageBytes, ttlAt, readUint32(this.messageBytes, ttlAt) - ageSeconds);
    }
    return response;
  }

  /** The expired entry that was found, with EDE 3 or 19 (RFC 8914 §4.4, §4.20). Good until the next call of any method here. */
  readStale(query: Query): Response {
    const { response, found } = this;
    this.counters.stale++;
    this.countHit(found);
    this.load(found, query);
    for (let i = 0; i < response.ttlCount; i++) {
      writeUint32(this.messageBytes, response.ttlOffsets[i], STALE_TTL_SECONDS);
    }
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
    const seconds = Math.min(lifetime.seconds, LONGEST_LIFE_SECONDS);
    const at = this.allocate(question, old, response.recordsEnd, response.ttlCount);
    if (at >= 0) this.fill(at, response, nowSeconds, seconds);
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
    this.setTimes(at, nowSeconds, FAILURE_SECONDS);
    words[at + Head.sizes] = query.questionEnd << 16;
    words[at + Head.counts] = 0;
    words[at + Head.flags] = Flag.qr | Flag.rd | Flag.ra | rcode;
    words[at + Head.ede] = ede === Ede.none ? Ede.cachedError : ede;
    words[at + Head.use] = Use.failure;
    this.copyIn(at, bytes, query.questionEnd);
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

  private setTimes(at: number, nowSeconds: number, seconds: number): void {
    const { words } = this.store;
    words[at + Head.storedAt] = nowSeconds;
    words[at + Head.expiresAt] = nowSeconds + seconds;
    words[at + Head.retryAt] = 0;
  }

  private fill(at: number, response: Response, nowSeconds: number, seconds: number): void {
    const { words, bytes } = this.store;
    const { ttlOffsets, ttlCount, recordsEnd } = response;
    this.setTimes(at, nowSeconds, seconds);
    words[at + Head.sizes] = (recordsEnd << 16) | ttlCount;
    words[at + Head.counts] = (response.answerCount << 16) | response.authorityCount;
    words[at + Head.flags] = (response.additionalCount << 16) | storedFlags(response);
    words[at + Head.ede] = response.ede;
    words[at + Head.use] = 0;
    const offsetsAt = (at + Head.words) * 4;
    const messageAt = this.store.messageAt(at) * 4 - HEADER_BYTES;
    const longest = this.lifetime.keeping === Keeping.negative ? seconds : LONGEST_LIFE_SECONDS;
    this.copyIn(at, response.bytes, recordsEnd);
    for (let i = 0; i < ttlCount; i++) {
      const ttlAt = ttlOffsets[i];
      writeUint16(bytes, offsetsAt + i * 2, ttlAt);
      writeUint32(bytes, messageAt + ttlAt, Math.min(readTtl(response.bytes, ttlAt), longest));
    }
  }

  /** Copies a message from behind its header. */
  private copyIn(at: number, from: Uint8Array, end: number): void {
    const { bytes } = this.store;
    const messageAt = this.store.messageAt(at) * 4 - HEADER_BYTES;
    for (let i = HEADER_BYTES; i < end; i++) bytes[messageAt + i] = from[i];
  }

  /** Fills the response with the entry, its TTLs as they were stored. */
  private load(at: number, query: Query): void {
    const { response, message } = this;
    const { words, bytes } = this.store;
    const sizes = words[at + Head.sizes];
    const flags = words[at + Head.flags];
    response.flags = flags & 0xffff;
    response.rcode = flags & Flag.rcode;
    response.questionEnd = query.questionEnd;
    response.answerCount = words[at + Head.counts] >>> 16;
    response.authorityCount = words[at + Head.counts] & 0xffff;
    response.additionalCount = flags >>> 16;
    response.recordsEnd = sizes >>> 16;
    response.ede = words[at + Head.ede];
    response.ttlCount = sizes & 0xffff;
    const offsetsAt = (at + Head.words) * 4;
    for (let i = 0; i < response.ttlCount; i++) {
      const offset = offsetsAt + i * 2;
      response.ttlOffsets[i] = (bytes[offset] << 8) | bytes[offset + 1];
    }
    const from = this.store.messageAt(at) - HEADER_WORDS;
    const end = (response.recordsEnd + 3) >> 2;
    for (let i = HEADER_WORDS; i < end; i++) message[i] = words[from + i];
  }
}
