import type { AnswerStore } from './answer-store.js';

/** Slots of the index that one piece visits or empties: less than a millisecond. */
const SLOTS_PER_PIECE = 4096;
const SLOTS_PER_CLEARING = 65_536;

/**
 * Drops many entries of a store, in pieces, so that queries are answered meanwhile.
 *
 * Readers in other threads go on meanwhile too. A removal changes slots of the index, each by single stores, but no
 * entry. So a reader that looks at the same time finds an entry or does not, and never a wrong one, because it compares
 * the name. The space of an entry is used again only by a put, while nobody reads.
 */
export class CacheSweep {
  /** The index is being emptied, and must not be changed meanwhile. */
  isClearing = false;

  constructor(private readonly store: AnswerStore) {}

  /**
   * Drops every entry that matches. The store may be used between the pieces. Entries that are there at the first piece
   * are all visited, entries that are added later may be.
   * @yields the number of entries that the piece has dropped
   */
  *drop(matches: (at: number) => boolean): Generator<number> {
    const { index } = this.store;
    // A removal moves other entries to lower slots, so the slots are visited from the last one down. Only entries in
    // the first slots may move to the last ones: these are visited before the others.
    yield this.dropInSlots(0, index.firstEmptySlot(), matches);
    for (let end = index.slotCount; end > 0; end -= SLOTS_PER_PIECE) {
      yield this.dropInSlots(Math.max(end - SLOTS_PER_PIECE, 0), end, matches);
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
   * Drops all entries. Until that is done, the store must not be used.
   * @yields at last the number of entries
   */
  *clear(): Generator<number> {
    const { index } = this.store;
    const { count } = index;
    this.isClearing = true;
    for (let end = index.slotCount; end > 0; end -= SLOTS_PER_CLEARING) {
      index.clearSlots(Math.max(end - SLOTS_PER_CLEARING, 0), end);
      yield 0;
    }
    this.store.clear();
    this.isClearing = false;
    yield count;
  }
}
