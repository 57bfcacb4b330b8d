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

/** The hash table of `HashLookup` for threads that change it, one after the other. At most three quarters full. */
export class HashIndex extends HashLookup {
  /** @param state where the number of entries is, at `countAt` */
  constructor(
    slots: Int32Array,
    private readonly state: Int32Array,
    private readonly countAt: number,
  ) {
    super(slots);
  }

  get count(): number {
    return this.state[this.countAt];
  }

  get isFull(): boolean {
    return this.count >= this.slotCount * 0.75;
  }

  /** The first slot without an entry. Entries before it may belong to slots at the end of the table. */
  firstEmptySlot(): number {
    let slot = 0;
    while (this.offsetAt(slot) >= 0) slot++;
    return slot;
  }

  put(tag: number, offset: number): void {
    const { slots, mask } = this;
    let slot = tag & mask;
    while (slots[slot * SLOT_WORDS + 1] !== 0) slot = (slot + 1) & mask;
    slots[slot * SLOT_WORDS] = tag;
    slots[slot * SLOT_WORDS + 1] = offset + 1;
    this.state[this.countAt]++;
  }

  /** Changes the offset of the entry with this tag and offset. */
  move(tag: number, from: number, to: number): void {
    this.slots[this.slotOf(tag, from) * SLOT_WORDS + 1] = to + 1;
  }

  /** Removes the entry with this tag and offset, and moves later entries into the gap where possible. */
  remove(tag: number, offset: number): void {
    const { slots, mask } = this;
    let gap = this.slotOf(tag, offset);
    for (let at = (gap + 1) & mask; slots[at * SLOT_WORDS + 1] !== 0; at = (at + 1) & mask) {
      const home = slots[at * SLOT_WORDS] & mask;
      if (((at - home) & mask) < ((at - gap) & mask)) continue;
      slots[gap * SLOT_WORDS] = slots[at * SLOT_WORDS];
      slots[gap * SLOT_WORDS + 1] = slots[at * SLOT_WORDS + 1];
      gap = at;
    }
    slots[gap * SLOT_WORDS + 1] = 0;
    this.state[this.countAt]--;
  }

  /**
   * Empties these slots, whatever other slots still refer to them. Until all are empty, entries may not be found and
   * nothing else may be changed.
   */
  clearSlots(from: number, end: number): void {
    this.slots.fill(0, from * SLOT_WORDS, end * SLOT_WORDS);
    if (from === 0) this.state[this.countAt] = 0;
  }

  private slotOf(tag: number, offset: number): number {
    let slot = this.first(tag);
    while (slot >= 0 && this.offsetAt(slot) !== offset) slot = this.next(slot, tag);
    if (slot < 0) throw new Error('no such entry in the index');
    return slot;
  }
}
