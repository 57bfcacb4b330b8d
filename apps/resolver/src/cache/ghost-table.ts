/**
 * Remembers tags of entries that were dropped lately, about as many as it has slotCount: a tag has one slot, and a newer one takes it.
 */
export class GhostTable {
  private readonly tags: Int32Array;

  /** @param slotCount a power of two */
  constructor(slotCount: number) {
    this.tags = new Int32Array(slotCount);
  }

  add(tag: number): void {
    this.tags[this.slotOf(tag)] = tag;
  }

  /** Whether the tag is remembered; it is not any more after that. */
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
