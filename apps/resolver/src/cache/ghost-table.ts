/**
 * The ghost queue of S3-FIFO: tags of recently evicted entries. Each tag maps to one slot; a newer tag overwrites an
 * older one.
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
