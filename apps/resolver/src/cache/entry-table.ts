import { equalsIgnoringCase, HEADER_BYTES } from '@weir/dns-wire';
import { questionTag } from '../query/question.js';
import type { CacheMemory } from './cache-memory.js';
import { HashLookup } from './hash-index.js';

/*
 * A cache entry is a run of words in an `Int32Array`: the head, then the offsets of the TTLs (16 bits each, padded to
 * a whole word), then the message without its header, up to its last record (padded), then the hashes of its targets.
 * The message begins with the question, so it begins with the name of the entry.
 */

/** Words of the head, as offsets from the start of the entry. */
export const Head = {
  /** Size of the record in words, see `RingBuffer`. It may be more than the entry needs. */
  size: 0,
  /** Hash of the qname, low and high 32 bits. */
  low: 1,
  high: 2,
  /** See `questionKey`; for NXDOMAIN of all types, `nameKey`. */
  key: 3,
  /** Times are seconds on the clock of the cache. */
  storedAt: 4,
  expiresAt: 5,
  /** Before this time the entry is not refreshed again: the last attempt has just failed. */
  retryAt: 6,
  /** Upper 16 bits: offset in the message after the last record. Lower 16 bits: number of TTLs. */
  sizes: 7,
  /** Upper 16 bits: records in the answer section. Lower 16 bits: records in the authority section. */
  counts: 8,
  /** Upper 16 bits: records in the additional section. Lower 16 bits: flags of the header. */
  flags: 9,
  /** INFO-CODE or `Ede.none`. */
  ede: 10,
  /** See `Use`. */
  use: 11,
  /** Upper 16 bits: words of the hashes of its targets. Lower 16 bits: number of targets plus one; 0 if unknown. */
  targets: 12,
  /**
   * Before this time the entry is being refreshed; 0: it is not. Set by the thread that begins it, cleared by a
   * write. It ends by itself, whatever becomes of the refresh or of the thread.
   */
  refreshUntil: 13,
  words: 14,
} as const;

/**
 * Bytes of the word `Head.use`. Each is written by itself, so that threads which write one at the same time never undo
 * what is in another.
 */
export const Use = {
  /** See `Hits`. Every thread that finds the entry counts. When two do so at the same time, one hit may be lost. */
  hits: 0,
  /** 1 when the entry is an upstream failure, not an answer. Only a write sets it. */
  failure: 1,
  /** 1 when the answer has private addresses. Only a write sets it. */
  privateAddresses: 2,
} as const;

/** Bits of the byte `Use.hits`. All values of the byte are valid. */
export const Hits = {
  /** Two bits: the frequency of S3-FIFO. A hit adds one, a reinsertion takes one away. */
  frequency: 0b11,
  /** Two bits: hits since it was stored; 3 means three or more. */
  stored: 0b1100,
  oneStored: 0b100,
} as const;

function ttlWords(ttlCount: number): number {
  return (ttlCount + 1) >> 1;
}

/**
 * Size of an entry in words.
 * @param recordsEnd offset in the message after its last record
 * @param targetWords words of the hashes of its targets
 */
export function entryWords(recordsEnd: number, ttlCount: number, targetWords: number): number {
  return Head.words + ttlWords(ttlCount) + messageWords(recordsEnd) + targetWords;
}

/** Number of words for a message up to there, without its header. */
function messageWords(recordsEnd: number): number {
  return (recordsEnd - HEADER_BYTES + 3) >> 2;
}

/** Longer than a question is in flight. */
const REFRESH_SECONDS = 10;

/** The entries of a cache as every thread sees them: finds them, and reads their heads. */
export class EntryTable {
  readonly words: Int32Array;
  /** The same memory as bytes. */
  readonly bytes: Uint8Array;
  private readonly index: HashLookup;

  constructor({ slots, entries }: Pick<CacheMemory, 'slots' | 'entries'>) {
    this.words = new Int32Array(entries);
    this.bytes = new Uint8Array(entries);
    this.index = new HashLookup(new Int32Array(slots));
  }

  /**
   * Finds the entry of a question. The name is compared too, so two names with the same hash never get the answer of
   * each other.
   * @param low, high hash of the qname, signed
   * @param name the message with the qname
   * @param nameBytes length of the qname
   * @param nameOffset where the qname starts
   * @returns the offset in words, or −1
   */
  find(
    low: number,
    high: number,
    key: number,
    name: Uint8Array,
    nameBytes: number,
    nameOffset: number = HEADER_BYTES,
  ): number {
    const { index, words, bytes } = this;
    const tag = questionTag(low, key);
    for (let slot = index.first(tag); slot >= 0; slot = index.next(slot, tag)) {
      const at = index.offsetAt(slot);
      // In another thread the slot may have been emptied meanwhile.
      if (at < 0 || words[at + Head.high] !== high || words[at + Head.key] !== key) continue;
      const nameAt = this.messageAt(at) * 4;
      if (equalsIgnoringCase(bytes, nameAt, name, nameOffset, nameBytes)) return at;
    }
    return -1;
  }

  /** Offset in words of the message of the entry. */
  messageAt(at: number): number {
    return at + Head.words + ttlWords(this.words[at + Head.sizes] & 0xffff);
  }

  /** Offset in words of the hashes of the targets. */
  targetsAt(at: number): number {
    return this.messageAt(at) + messageWords(this.words[at + Head.sizes] >>> 16);
  }

  isFailure(at: number): boolean {
    return this.use(at, Use.failure) !== 0;
  }

  isRefreshing(at: number, nowSeconds: number): boolean {
    return nowSeconds < this.words[at + Head.refreshUntil];
  }

  /** Whether that began before the entry had expired. */
  isPrefetching(at: number, nowSeconds: number): boolean {
    const beganAt = this.words[at + Head.refreshUntil] - REFRESH_SECONDS;
    return this.isRefreshing(at, nowSeconds) && beganAt < this.words[at + Head.expiresAt];
  }

  /** @returns false when it is being refreshed already: of several threads, one begins */
  beginRefresh(at: number, nowSeconds: number): boolean {
    const { words } = this;
    const word = at + Head.refreshUntil;
    const until = Atomics.load(words, word);
    if (nowSeconds < until) return false;
    return Atomics.compareExchange(words, word, until, nowSeconds + REFRESH_SECONDS) === until;
  }

  endRefresh(at: number): void {
    this.words[at + Head.refreshUntil] = 0;
  }

  frequency(at: number): number {
    return this.use(at, Use.hits) & Hits.frequency;
  }

  /** Hits since it was stored, up to three. */
  storedHits(at: number): number {
    return (this.use(at, Use.hits) & Hits.stored) / Hits.oneStored;
  }

  countHit(at: number): void {
    const before = this.use(at, Use.hits);
    let hits = before;
    if ((hits & Hits.frequency) !== Hits.frequency) hits++;
    if ((hits & Hits.stored) !== Hits.stored) hits += Hits.oneStored;
    // A popular entry is not written any more, so that threads do not take its cache line from each other.
    if (hits !== before) this.bytes[useAt(at) + Use.hits] = hits;
  }

  private use(at: number, byte: number): number {
    return this.bytes[useAt(at) + byte];
  }
}

/** Offset in bytes of the word `Head.use`. */
export function useAt(at: number): number {
  return (at + Head.use) * 4;
}
