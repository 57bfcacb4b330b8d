import { equalsIgnoringCase, HEADER_BYTES } from '@weir/dns-wire';
import { questionTag } from '../query/question.js';
import type { CacheMemory } from './cache-memory.js';
import { Head, Hits, ttlWords, Use } from './entry.js';
import { HashLookup } from './hash-index.js';

/** Longer than a question is in flight, with its way to the thread that forwards it. */
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
    const messageWords = ((this.words[at + Head.sizes] >>> 16) - HEADER_BYTES + 3) >> 2;
    return this.messageAt(at) + messageWords;
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
