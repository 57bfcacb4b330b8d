/** Words of a slot: the tag, and offset + 1 or 0 for an empty slot. */
export const SLOT_WORDS = 2;

/**
 * Finds in a hash table from 32-bit tags to offsets: open addressing, linear probing. Several offsets may have the same
 * tag; the caller compares the keys. Tags must be keyed hashes, so that clients cannot provoke collisions.
 *
 * ```ts
 * for (let slot = index.first(tag); slot >= 0; slot = index.next(slot, tag)) if (isKey(index.offsetAt(slot))) …
 * ```
 */
export class HashLookup {
  protected readonly mask: number;

  /** @param slots `SLOT_WORDS` each; their number is a power of two. There is always an empty one. */
  constructor(protected readonly slots: Int32Array) {
    this.mask = slots.length / SLOT_WORDS - 1;
  }

  /** @returns the first slot with the tag (signed), or −1 */
  first(tag: number): number {
    return this.seek(tag & this.mask, tag);
  }

  /** @returns the next slot with the tag after `slot`, or −1 */
  next(slot: number, tag: number): number {
    return this.seek((slot + 1) & this.mask, tag);
  }

  get slotCount(): number {
    return this.mask + 1;
  }

  /** @returns −1 for an empty slot */
  offsetAt(slot: number): number {
    return this.slots[slot * SLOT_WORDS + 1] - 1;
  }

  private seek(from: number, tag: number): number {
    const { slots, mask } = this;
    for (let slot = from; slots[slot * SLOT_WORDS + 1] !== 0; slot = (slot + 1) & mask) {
      if (slots[slot * SLOT_WORDS] === tag) return slot;
    }
    return -1;
  }
}
