/**
 * A hash table from 32-bit tags to offsets: open addressing, linear probing, at most three quarters full. Several
 * offsets may have the same tag; the caller compares the keys. Tags must be keyed hashes, so that clients cannot
 * provoke collisions.
 *
 * ```ts
 * for (let slot = index.first(tag); slot >= 0; slot = index.next(slot, tag)) if (isKey(index.offsetAt(slot))) …
 * ```
 */
export class HashIndex {
  /** Two words per slot: the tag, and offset + 1 or 0 for an empty slot. */
  private readonly slots: Int32Array;
  private readonly mask: number;
  private entries = 0;

  /** @param slotCount a power of two */
  constructor(slotCount: number) {
    this.slots = new Int32Array(slotCount * 2);
    this.mask = slotCount - 1;
  }

  get count(): number {
    return this.entries;
  }

  /** Whether the table takes no more entries. */
  get isFull(): boolean {
    return this.entries >= (this.mask + 1) * 0.75;
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

  /** The first slot without an entry. Entries before it may belong to slots at the end of the table. */
  firstEmptySlot(): number {
    let slot = 0;
    while (this.offsetAt(slot) >= 0) slot++;
    return slot;
  }

  /** @returns −1 for an empty slot */
  offsetAt(slot: number): number {
    return this.slots[slot * 2 + 1] - 1;
  }

  put(tag: number, offset: number): void {
    const { slots, mask } = this;
    let slot = tag & mask;
    while (slots[slot * 2 + 1] !== 0) slot = (slot + 1) & mask;
    slots[slot * 2] = tag;
    slots[slot * 2 + 1] = offset + 1;
    this.entries++;
  }

  /** Changes the offset of the entry with this tag and offset. */
  move(tag: number, from: number, to: number): void {
    this.slots[this.slotOf(tag, from) * 2 + 1] = to + 1;
  }

  /** Removes the entry with this tag and offset, and moves later entries into the gap where possible. */
  remove(tag: number, offset: number): void {
    const { slots, mask } = this;
    let gap = this.slotOf(tag, offset);
    for (let at = (gap + 1) & mask; slots[at * 2 + 1] !== 0; at = (at + 1) & mask) {
      const home = slots[at * 2] & mask;
      if (((at - home) & mask) < ((at - gap) & mask)) continue;
      slots[gap * 2] = slots[at * 2];
      slots[gap * 2 + 1] = slots[at * 2 + 1];
      gap = at;
    }
    slots[gap * 2 + 1] = 0;
    this.entries--;
  }

  clear(): void {
    this.slots.fill(0);
    this.entries = 0;
  }

  private seek(from: number, tag: number): number {
    const { slots, mask } = this;
    for (let slot = from; slots[slot * 2 + 1] !== 0; slot = (slot + 1) & mask) {
      if (slots[slot * 2] === tag) return slot;
    }
    return -1;
  }

  private slotOf(tag: number, offset: number): number {
    let slot = this.first(tag);
    while (slot >= 0 && this.offsetAt(slot) !== offset) slot = this.next(slot, tag);
    if (slot < 0) throw new Error('no such entry in the index');
    return slot;
  }
}
