import { questionTag } from '../query/question.js';
import { type CacheMemory, State } from './cache-memory.js';
import { type EntryTable, useAt, Head, Hits, Use } from './entry-table.js';
import { HashIndex } from './hash-index.js';
import { RingBuffer } from './ring-buffer.js';

/**
 * The ghost queue of S3-FIFO: tags of recently evicted entries. Each tag maps to one slot; a newer tag overwrites an
 * older one.
 */
class GhostTable {
  /** @param tags their number is a power of two */
  constructor(private readonly tags: Int32Array) {}

  add(tag: number): void {
    this.tags[this.slotOf(tag)] = tag;
  }

  /** Whether the tag is there. It is removed. */
  remove(tag: number): boolean {
    const slot = this.slotOf(tag);
    if (this.tags[slot] !== tag || tag === 0) return false;
    this.tags[slot] = 0;
    return true;
  }

  private slotOf(tag: number): number {
    return tag & (this.tags.length - 1);
  }
}

/** One tenth of the memory is the small ring, for new entries. */
const SMALL_RING_FRACTION = 10;
/** An entry takes at most this fraction of the small ring. */
const MAX_ENTRY_FRACTION = 4;
/**
 * Maximum number of entries that are reinserted to make room for one; then the next entry goes whatever its frequency
 * is. This bounds the time of an insertion.
 */
const MAX_REINSERTIONS = 32;
/** Hits after which an entry moves from the small ring to the main one. */
const MIN_PROMOTION_FREQUENCY = 2;
/**
 * Work of one call of `allocate`: the words that it moves, and so much for each entry that it moves or evicts. It takes
 * about 50 µs at most, during which no other thread can look anything up.
 */
const MAX_WORK = 8192;
const ENTRY_WORK = 64;

/**
 * Entries of different sizes in a fixed piece of memory. A full store evicts by S3-FIFO (Yang et al., "FIFO Queues are
 * All You Need for Cache Eviction", SOSP 2023). A new entry passes through a small ring and is evicted at its end
 * unless it was hit twice. Entries that were hit, and entries that return soon after their eviction (ghosts), go to the
 * main ring, where each hit reinserts an entry once. So a flood of names that are asked only once does not evict
 * popular names.
 *
 * All that changes is in shared memory, so several threads may use a store one after the other.
 */
export class AnswerStore {
  /** Result of `allocate`: there is not room enough yet. */
  static readonly unfinished = -1;

  /** Size of the largest possible entry, in words. */
  readonly maxEntryWords: number;
  readonly index: HashIndex;
  readonly small: RingBuffer;
  readonly main: RingBuffer;
  private readonly ghosts: GhostTable;
  private readonly state: Int32Array;
  /** One number, see `State.evictions`. */
  private readonly evicted: Float64Array;
  /** Of this call of `allocate`. */
  private work = 0;

  /** @param isDisposable whether the entry at an offset can be dropped without loss */
  constructor(
    { slots, ghosts, state }: CacheMemory,
    private readonly table: EntryTable,
    private readonly isDisposable: (offset: number) => boolean,
  ) {
    this.state = new Int32Array(state);
    this.evicted = new Float64Array(state, State.evictions * this.state.BYTES_PER_ELEMENT, 1);
    this.index = new HashIndex(new Int32Array(slots), this.state, State.count);
    this.ghosts = new GhostTable(new Int32Array(ghosts));
    const { words } = table;
    const border = Math.floor(words.length / SMALL_RING_FRACTION);
    this.small = new RingBuffer(words, 0, border, this.state, State.smallRing);
    this.main = new RingBuffer(words, border, words.length, this.state, State.mainRing);
    this.maxEntryWords = Math.floor(border / MAX_ENTRY_FRACTION);
  }

  get entries(): number {
    return this.index.count;
  }

  /** Entries that were evicted while they were still useful. */
  get evictions(): number {
    return this.evicted[0];
  }

  /** Free words, except for gaps between entries. */
  get freeWords(): number {
    return this.small.capacity + this.main.capacity - this.small.used - this.main.used;
  }

  /**
   * Allocates the entry of a question and sets the first words of its head, up to `key`. The caller sets the rest
   * before it calls the store again. May evict other entries.
   * @param old offset of the existing entry of the question, which is replaced, or −1
   * @param size in words, at most `maxEntryWords`
   * @returns `unfinished` when many entries had to be evicted: the old entry is gone, and the call is to be repeated
   *   without it
   */
  allocate(low: number, high: number, key: number, old: number, size: number): number {
    const { words } = this.table;
    if (old >= 0 && words[old] >= size && words[old] <= size * 2) return old;
    const tag = questionTag(low, key);
    const isPromoted = old >= 0 ? this.main.contains(old) : this.ghosts.remove(tag);
    if (old >= 0) this.drop(old);
    this.work = 0;
    while (this.index.isFull) {
      const ring = this.small.used > 0 ? this.small : this.main;
      this.release(ring, ring.oldest());
    }
    const at = this.reserve(isPromoted ? this.main : this.small, size);
    if (at === AnswerStore.unfinished) {
      if (isPromoted) this.ghosts.add(tag);
      return at;
    }
    words[at + Head.low] = low;
    words[at + Head.high] = high;
    words[at + Head.key] = key;
    this.index.put(tag, at);
    return at;
  }

  /** @returns `unfinished` when that was too much work */
  private reserve(ring: RingBuffer, size: number): number {
    const { state } = this;
    for (;;) {
      const at = ring.reserve(size);
      if (at >= 0) {
        if (ring === this.main) state[State.reinsertions] = 0;
        return at;
      }
      if (this.work >= MAX_WORK) return AnswerStore.unfinished;
      this.work += ENTRY_WORK;
      if (ring === this.small) this.evictSmall();
      else if (this.evictMain(state[State.reinsertions] < MAX_REINSERTIONS))
        state[State.reinsertions]++;
    }
  }

  /**
   * Evicts the oldest entry of the small ring. It moves to the main ring if it was hit, or if there is room anyway;
   * else its tag becomes a ghost.
   */
  private evictSmall(): void {
    const { small, main, table } = this;
    const { words, bytes } = table;
    const at = small.oldest();
    const size = words[at];
    if (size > 0 && !this.isDisposable(at)) {
      const isPromoted = table.frequency(at) >= MIN_PROMOTION_FREQUENCY;
      const to = isPromoted ? this.reserve(main, size) : main.reserve(size);
      // It stays until there is room for it.
      if (to < 0 && isPromoted) return;
      if (to >= 0) {
        this.move(at, to);
        bytes[useAt(to) + Use.hits] &= ~Hits.frequency;
        words[at] = -size;
      } else {
        this.ghosts.add(this.tagAt(at));
      }
    }
    this.release(small, at);
  }

  /** Evicts the oldest entry of the main ring, or reinserts it if it was hit. @returns whether it was reinserted */
  private evictMain(canReinsert: boolean): boolean {
    const { main, table } = this;
    const { words, bytes } = table;
    const at = main.oldest();
    const size = words[at];
    const isHit = size > 0 && table.frequency(at) > 0;
    if (!isHit || !canReinsert || this.isDisposable(at)) {
      this.release(main, at);
      return false;
    }
    // Its own space is free now, so it fits, unless that space lies across the end of the ring.
    main.release();
    const to = main.reserve(size);
    if (to < 0) {
      this.evicted[0]++;
      this.index.remove(this.tagAt(at), at);
      return false;
    }
    this.move(at, to);
    bytes[useAt(to) + Use.hits]--;
    return true;
  }

  /** Frees the oldest record of a ring. */
  private release(ring: RingBuffer, at: number): void {
    if (this.table.words[at] > 0) {
      if (!this.isDisposable(at)) this.evicted[0]++;
      this.index.remove(this.tagAt(at), at);
    }
    ring.release();
  }

  private move(from: number, to: number): void {
    const { index } = this;
    const { words } = this.table;
    const size = Math.abs(words[from]);
    this.work += size;
    index.move(this.tagAt(from), from, to);
    words.copyWithin(to, from, from + size);
  }

  /** Removes the entry. Its space becomes free when it is the oldest. */
  drop(at: number): void {
    const { words } = this.table;
    this.index.remove(this.tagAt(at), at);
    words[at] = -words[at];
  }

  /** All space becomes free. The index is empty. */
  clear(): void {
    this.small.clear();
    this.main.clear();
  }

  private tagAt(at: number): number {
    const { words } = this.table;
    return questionTag(words[at + Head.low], words[at + Head.key]);
  }
}
