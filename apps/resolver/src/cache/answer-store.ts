import { equalsIgnoringCase, HEADER_BYTES } from '@weir/dns-wire';
import { questionTag } from '../query/question.js';
import { Head, ttlWords, Use } from './entry.js';
import { GhostTable } from './ghost-table.js';
import { HashIndex } from './hash-index.js';
import { RingBuffer } from './ring-buffer.js';

/** Memory per index slot. A typical entry has 100 … 250 bytes; a slot has eight. */
const BYTES_PER_SLOT = 64;
/** One tenth of the memory is the small ring, for new entries. */
const SMALL_RING_FRACTION = 10;
/** An entry takes at most this fraction of the small ring. */
const MAX_ENTRY_FRACTION = 4;
/**
 * Maximum number of entries that one eviction reinserts; then the next entry goes whatever its frequency is. This
 * bounds the time of an insertion.
 */
const MAX_REINSERTIONS = 32;
/** Hits after which an entry moves from the small ring to the main one. */
const MIN_PROMOTION_FREQUENCY = 2;
/** Slots of the index that one piece of a search visits: less than a millisecond. */
const SLOTS_PER_PIECE = 4096;

/**
 * Entries of different sizes in a fixed piece of memory. A full store evicts by S3-FIFO (Yang et al., "FIFO Queues are
 * All You Need for Cache Eviction", SOSP 2023). A new entry passes through a small ring and is evicted at its end
 * unless it was hit twice. Entries that were hit, and entries that return soon after their eviction (ghosts), go to the
 * main ring, where each hit reinserts an entry once. So a flood of names that are asked only once does not evict
 * popular names.
 */
export class AnswerStore {
  readonly words: Int32Array;
  /** The same memory as bytes. */
  readonly bytes: Uint8Array;
  /** Size of the largest possible entry, in words. */
  readonly maxEntryWords: number;
  /** Entries that were evicted while they were still useful. */
  evictions = 0;
  private readonly small: RingBuffer;
  private readonly main: RingBuffer;
  private readonly index: HashIndex;
  private readonly ghosts: GhostTable;

  /**
   * @param sizeBytes total memory, 64 KiB or more
   * @param isDisposable whether the entry at an offset can be dropped without loss
   */
  constructor(
    private readonly sizeBytes: number,
    private readonly isDisposable: (offset: number) => boolean,
  ) {
    const slots = 2 ** Math.floor(Math.log2(sizeBytes / BYTES_PER_SLOT));
    this.index = new HashIndex(slots);
    this.ghosts = new GhostTable(slots / 2);
    // Not `>>`: from 2 GiB on, the size does not fit a signed 32-bit number.
    const wordCount = Math.floor(sizeBytes / 4) - slots * 2 - slots / 2;
    this.words = new Int32Array(wordCount);
    this.bytes = new Uint8Array(this.words.buffer);
    const border = Math.floor(wordCount / SMALL_RING_FRACTION);
    this.small = new RingBuffer(this.words, 0, border);
    this.main = new RingBuffer(this.words, border, wordCount);
    this.maxEntryWords = Math.floor(border / MAX_ENTRY_FRACTION);
  }

  get entries(): number {
    return this.index.count;
  }

  /** Bytes in use: the index, and the entries with the gaps between them. */
  get usedBytes(): number {
    const free = this.small.capacity + this.main.capacity - this.small.used - this.main.used;
    return this.sizeBytes - free * 4;
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
      if (words[at + Head.high] !== high || words[at + Head.key] !== key) continue;
      const nameAt = this.messageAt(at) * 4;
      if (equalsIgnoringCase(bytes, nameAt, name, nameOffset, nameBytes)) return at;
    }
    return -1;
  }

  /** Offset in words of the message of the entry. */
  messageAt(at: number): number {
    return at + Head.words + ttlWords(this.words[at + Head.sizes] & 0xffff);
  }

  /**
   * Allocates the entry of a question and sets the first words of its head, up to `key`. The caller sets the rest
   * before it calls the store again. May evict other entries.
   * @param old offset of the existing entry of the question, which is replaced, or −1
   * @param size in words, at most `maxEntryWords`
   */
  allocate(low: number, high: number, key: number, old: number, size: number): number {
    const { words } = this;
    if (old >= 0 && words[old] >= size && words[old] <= size * 2) return old;
    const tag = questionTag(low, key);
    const isPromoted = old >= 0 ? this.main.contains(old) : this.ghosts.remove(tag);
    if (old >= 0) this.drop(old);
    while (this.index.isFull) this.evict(this.small.used > 0 ? this.small : this.main);
    const at = this.reserve(isPromoted ? this.main : this.small, size);
    words[at + Head.low] = low;
    words[at + Head.high] = high;
    words[at + Head.key] = key;
    this.index.put(tag, at);
    return at;
  }

  private reserve(ring: RingBuffer, size: number): number {
    let reinsertions = 0;
    for (;;) {
      const at = ring.reserve(size);
      if (at >= 0) return at;
      if (ring === this.small) this.evictSmall();
      else if (this.evictMain(reinsertions < MAX_REINSERTIONS)) reinsertions++;
    }
  }

  private evict(ring: RingBuffer): void {
    const at = ring.oldest();
    if (this.words[at] > 0) {
      this.evictions++;
      this.drop(at);
    }
    ring.release();
  }

  /**
   * Evicts the oldest entry of the small ring. It moves to the main ring if it was hit, or if there is room anyway;
   * else its tag becomes a ghost.
   */
  private evictSmall(): void {
    const { small, main, words } = this;
    const at = small.oldest();
    const size = words[at];
    if (size > 0 && !this.isDisposable(at)) {
      const isPromoted = (words[at + Head.use] & Use.frequency) >= MIN_PROMOTION_FREQUENCY;
      const to = isPromoted ? this.reserve(main, size) : main.reserve(size);
      if (to >= 0) {
        this.move(at, to);
        words[to + Head.use] &= ~Use.frequency;
        words[at] = -size;
      } else {
        this.ghosts.add(this.tagAt(at));
      }
    }
    this.release(small, at);
  }

  /** Evicts the oldest entry of the main ring, or reinserts it if it was hit. @returns whether it was reinserted */
  private evictMain(canReinsert: boolean): boolean {
    const { main, words } = this;
    const at = main.oldest();
    const size = words[at];
    const isHit = size > 0 && (words[at + Head.use] & Use.frequency) > 0;
    if (!isHit || !canReinsert || this.isDisposable(at)) {
      this.release(main, at);
      return false;
    }
    // Its own space is free now, so it fits, unless that space lies across the end of the ring.
    main.release();
    const to = main.reserve(size);
    if (to < 0) {
      this.evictions++;
      this.index.remove(this.tagAt(at), at);
      return false;
    }
    this.move(at, to);
    words[to + Head.use]--;
    return true;
  }

  /** Frees the oldest record of a ring. */
  private release(ring: RingBuffer, at: number): void {
    if (this.words[at] > 0) {
      if (!this.isDisposable(at)) this.evictions++;
      this.index.remove(this.tagAt(at), at);
    }
    ring.release();
  }

  private move(from: number, to: number): void {
    const { words, index } = this;
    const size = Math.abs(words[from]);
    index.move(this.tagAt(from), from, to);
    words.copyWithin(to, from, from + size);
  }

  /** Removes the entry. Its space becomes free when it is the oldest. */
  drop(at: number): void {
    this.index.remove(this.tagAt(at), at);
    this.words[at] = -this.words[at];
  }

  /**
   * Drops every entry that matches, in pieces. The store may be used between the pieces. Entries that are there at the
   * first piece are all visited, entries that are added later may be.
   * @yields the number of entries that the piece has dropped
   */
  *dropMatching(matches: (at: number) => boolean): Generator<number> {
    // A removal moves other entries to lower slots, so the slots are visited from the last one down. Only entries in
    // the first slots may move to the last ones: these are visited before the others.
    yield this.dropInSlots(0, this.index.firstEmptySlot(), matches);
    for (let end = this.index.slotCount; end > 0; end -= SLOTS_PER_PIECE) {
      yield this.dropInSlots(Math.max(end - SLOTS_PER_PIECE, 0), end, matches);
    }
  }

  private dropInSlots(from: number, end: number, matches: (at: number) => boolean): number {
    const { index } = this;
    const before = index.count;
    for (let slot = end - 1; slot >= from; slot--) {
      const at = index.offsetAt(slot);
      if (at >= 0 && matches(at)) this.drop(at);
    }
    return before - index.count;
  }

  /** Drops all entries at once. */
  clear(): void {
    this.index.clear();
    this.small.clear();
    this.main.clear();
  }

  private tagAt(at: number): number {
    return questionTag(this.words[at + Head.low], this.words[at + Head.key]);
  }
}
