import type { AnswerStore } from './answer-store.js';
import { type CacheMemory, State } from './cache-memory.js';
import type { WriteMutex } from './write-lock.js';

/** Slots of the index that one piece visits or empties: less than a millisecond. */
const SLOTS_PER_PIECE = 4096;
const SLOTS_PER_CLEARING = 65_536;

/**
 * Drops many entries of a store, in pieces, so that queries are answered meanwhile. Other threads may write between the
 * pieces. A piece for which another thread does not end its write in time drops nothing, and is tried again.
 *
 * Readers in other threads go on all the time. A removal changes slots of the index, each by single stores, but no
 * entry. So a reader that looks at the same time finds an entry or does not, and never a wrong one, because it compares
 * the name. The space of an entry is used again only by a put, while nobody reads.
 */
export class CacheSweep {
  private readonly state: Int32Array;

  constructor(
    { state }: CacheMemory,
    private readonly store: AnswerStore,
    private readonly mutex: WriteMutex,
  ) {
    this.state = new Int32Array(state);
  }

  /**
   * Drops every entry that matches. Entries that are there at the first piece are all visited, entries that are added
   * later may be. From the first piece on, answers of an older generation are not kept.
   * @yields the number of entries that the piece has dropped
   */
  *drop(matches: (at: number) => boolean): Generator<number> {
    const { index } = this.store;
    // A removal moves other entries to lower slots, so the slots are visited from the last one down. Only entries in
    // the first slots may move to the last ones: these are visited before the others.
    yield* this.piece(() => {
      this.raiseGeneration();
      return this.dropInSlots(0, index.firstEmptySlot(), matches);
    });
    for (let end = index.slotCount; end > 0; end -= SLOTS_PER_PIECE) {
      const from = Math.max(end - SLOTS_PER_PIECE, 0);
      yield* this.piece(() => this.dropInSlots(from, end, matches));
    }
  }

  private dropInSlots(from: number, end: number, matches: (at: number) => boolean): number {
    const { store } = this;
    const before = store.entries;
    for (let slot = end - 1; slot >= from; slot--) {
      const at = store.index.offsetAt(slot);
      if (at >= 0 && matches(at)) store.drop(at);
    }
    return before - store.entries;
  }

  /**
   * Drops all entries. Until that is done, the index is being emptied, and no thread may change the store.
   * @yields at last the number of entries
   */
  *clear(): Generator<number> {
    const { index } = this.store;
    let count = 0;
    yield* this.piece(() => {
      this.raiseGeneration();
      this.state[State.clearing] = 1;
      count = index.count;
      return 0;
    });
    for (let end = index.slotCount; end > 0; end -= SLOTS_PER_CLEARING) {
      yield* this.piece(() => {
        index.clearSlots(Math.max(end - SLOTS_PER_CLEARING, 0), end);
        return 0;
      });
    }
    yield* this.piece(() => {
      this.store.clear();
      this.state[State.clearing] = 0;
      return count;
    });
  }

  /** Works while no other thread writes. @yields 0 each time it has waited in vain, then what the work returns */
  private *piece(work: () => number): Generator<number> {
    while (!this.mutex.tryTake()) yield 0;
    let dropped: number;
    try {
      dropped = work();
    } finally {
      this.mutex.release();
    }
    yield dropped;
  }

  private raiseGeneration(): void {
    Atomics.add(this.state, State.generation, 1);
  }
}
