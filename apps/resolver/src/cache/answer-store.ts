import { equalsIgnoringCase, HEADER_BYTES } from '@weir/dns-wire';
import { questionTag } from '../query/question.js';
import { Head, ttlWords, Use } from './entry.js';
import { GhostTable } from './ghost-table.js';
import { KeyIndex } from './key-index.js';
import { RingLog } from './ring-log.js';

/** One index slot for so many bytes of memory; a usual entry has 100 … 250, and a slot takes eight. */
const BYTES_PER_SLOT = 64;
/** One part in ten of the arena is for what is new. */
const SMALL_RING_FRACTION = 10;
/** An entry takes at most this part of the small ring. */
const MAX_ENTRY_FRACTION = 4;
/** Entries that one eviction may spare before the next goes whatever its hits. It bounds the time that an insertion takes. */
const MAX_REINSERTIONS = 32;
/** Hits after which an entry leaves the small ring for the main one. */
const MIN_PROMOTION_FREQUENCY = 2;

/**
 * Entries of different sizes in a fixed piece of memory. When it is full the least useful go, by S3-FIFO (Yang et al., "FIFO Queues are
 * All You Need for Cache Eviction", SOSP 2023): what is new passes a small ring and is dropped at its end unless it was hit twice; what
 * goesToMain, and what comes again soon after it was dropped, goes to the main ring, where every hit spares an entry one round. So
 * a flood of names that are asked once never drives out what is asked often.
 */
export class AnswerStore {
  readonly words: Int32Array;
  /** The same memory, byte by byte. */
  readonly bytes: Uint8Array;
  /** Longest entry in words. */
  readonly largestEntry: number;
  /** Entries driven out by others; those that were past all use are not counted. */
  evictions = 0;
  private readonly small: RingLog;
  private readonly main: RingLog;
  private readonly index: KeyIndex;
  private readonly ghosts: GhostTable;

  /**
   * @param sizeBytes of all memory together, 64 KiB or more
   * @param isDisposable whether the entry at an offset can be dropped without loss
   */
  constructor(
    private readonly sizeBytes: number,
    private readonly isDisposable: (offset: number) => boolean,
  ) {
    const slots = 2 ** Math.floor(Math.log2(sizeBytes / BYTES_PER_SLOT));
    this.index = new KeyIndex(slots);
    this.ghosts = new GhostTable(slots / 2);
    const wordCount = (sizeBytes >> 2) - slots * 2 - slots / 2;
    this.words = new Int32Array(wordCount);
    this.bytes = new Uint8Array(this.words.buffer);
    const border = Math.floor(wordCount / SMALL_RING_FRACTION);
    this.small = new RingLog(this.words, 0, border);
    this.main = new RingLog(this.words, border, wordCount);
    this.largestEntry = Math.floor(border / MAX_ENTRY_FRACTION);
  }

  get entries(): number {
    return this.index.count;
  }

  /** Bytes taken: the index, and the entries with the gaps between them. */
  get usedBytes(): number {
    const free = this.small.capacity + this.main.capacity - this.small.used - this.main.used;
    return this.sizeBytes - free * 4;
  }

  /**
   * The entry of a question. The name is compared too: two names with one hash never get each other's answer.
   * @param low, high hash of the qname, signed
   * @param name the message with the qname at `HEADER_BYTES`, @param nameBytes its length
   * @returns its offset in words, or −1
   */
  find(low: number, high: number, key: number, name: Uint8Array, nameBytes: number): number {
    const { index, words, bytes } = this;
    const tag = questionTag(low, key);
    for (let slot = index.first(tag); slot >= 0; slot = index.next(slot, tag)) {
      const at = index.offsetAt(slot);
      if (words[at + Head.high] !== high || words[at + Head.key] !== key) continue;
      const nameAt = this.messageAt(at) * 4;
      if (equalsIgnoringCase(bytes, nameAt, name, HEADER_BYTES, nameBytes)) return at;
    }
    return -1;
  }

  /** Word where the message of the entry begins. */
  messageAt(at: number): number {
    return at + Head.words + ttlWords(this.words[at + Head.sizes] & 0xffff);
  }

  /**
   * Takes room for the entry of a question and sets the first words of its head, up to `key`; the caller sets the rest before anything
   * else is asked of the store. It may drive out others.
   * @param old offset of the question's entry, which it replaces, or −1
   * @param size words, at most `largestEntry`
   */
  allocate(low: number, high: number, key: number, old: number, size: number): number {
    const { words } = this;
    if (old >= 0 && words[old] >= size && words[old] <= size * 2) return old;
    const tag = questionTag(low, key);
    const goesToMain = old >= 0 ? this.main.holds(old) : this.ghosts.remove(tag);
    if (old >= 0) this.drop(old);
    while (this.index.isFull) this.evict(this.small.used > 0 ? this.small : this.main);
    const at = this.reserve(goesToMain ? this.main : this.small, size);
    words[at + Head.low] = low;
    words[at + Head.high] = high;
    words[at + Head.key] = key;
    this.index.put(tag, at);
    return at;
  }

  private reserve(ring: RingLog, size: number): number {
    let reinsertions = 0;
    for (;;) {
      const at = ring.reserve(size);
      if (at >= 0) return at;
      if (ring === this.small) this.evictSmall();
      else if (this.evictMain(reinsertions < MAX_REINSERTIONS)) reinsertions++;
    }
  }

  private evict(ring: RingLog): void {
    const at = ring.oldest();
    if (this.words[at] > 0) {
      this.evictions++;
      this.drop(at);
    }
    ring.release();
  }

  /** The oldest of the small ring goes: to the main ring if it was hit or that has room anyway, else away, to be remembered. */
  private evictSmall(): void {
    const { small, main, words } = this;
    const at = small.oldest();
    const size = words[at];
    if (size > 0 && !this.isDisposable(at)) {
      const goesToMain = (words[at + Head.use] & Use.frequency) >= MIN_PROMOTION_FREQUENCY;
      const to = goesToMain ? this.reserve(main, size) : main.reserve(size);
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

  /** The oldest of the main ring goes away, or to its young end if it was hit. @returns whether it was reinsertions. */
  private evictMain(mayReinsert: boolean): boolean {
    const { main, words } = this;
    const at = main.oldest();
    const size = words[at];
    const isHit = size > 0 && (words[at + Head.use] & Use.frequency) > 0;
    if (!isHit || !mayReinsert || this.isDisposable(at)) {
      this.release(main, at);
      return false;
    }
    // Its own room comes free with it, so it fits unless that lies across the end of the ring.
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

  /** Gives the oldest record of a ring back. */
  private release(ring: RingLog, at: number): void {
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

  /** Takes the entry out; its room comes free when it is the oldest. */
  drop(at: number): void {
    this.index.remove(this.tagAt(at), at);
    this.words[at] = -this.words[at];
  }

  private tagAt(at: number): number {
    return questionTag(this.words[at + Head.low], this.words[at + Head.key]);
  }
}
