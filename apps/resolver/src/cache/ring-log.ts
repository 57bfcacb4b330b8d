/**
 * A ring of records of different sizes in a part of an `Int32Array`, taken and given back in order: first in, first out. A record is one
 * run of words that never wraps; its first word is its size in words, negative when it is dead (the filler before the end of the
 * ring is). The rest of a record is its user's.
 */
export class RingLog {
  private head: number;
  private tail: number;
  private usedWords = 0;

  /** @param start first word of the part, @param end the word behind it */
  constructor(
    private readonly words: Int32Array,
    private readonly start: number,
    private readonly end: number,
  ) {
    this.head = start;
    this.tail = start;
  }

  get capacity(): number {
    return this.end - this.start;
  }

  /** Words in use, dead ones among them. */
  get used(): number {
    return this.usedWords;
  }

  /** Whether the record at the offset would be one of this ring. */
  holds(offset: number): boolean {
    return offset >= this.start && offset < this.end;
  }

  /**
   * Takes a record of `size` words, 1 … `capacity`. Its first word is set.
   * @returns its offset, or −1 when the oldest must be released first.
   */
  reserve(size: number): number {
    if (this.usedWords === 0) this.head = this.tail = this.start;
    const offset = this.place(size);
    if (offset < 0) return -1;
    this.words[offset] = size;
    this.usedWords += size;
    this.head = offset + size === this.end ? this.start : offset + size;
    return offset;
  }

  /** Offset of the oldest record, dead or not; −1 when there is none. */
  oldest(): number {
    return this.usedWords === 0 ? -1 : this.tail;
  }

  /** Gives the oldest record back. Its words stay as they are until the next `reserve`. */
  release(): void {
    const size = Math.abs(this.words[this.tail]);
    this.usedWords -= size;
    this.tail = this.tail + size === this.end ? this.start : this.tail + size;
  }

  /** Where a record of `size` words fits next; leaves a filler when that is the start again. */
  private place(size: number): number {
    const { head, tail } = this;
    const isSplit = head > tail || (head === tail && this.usedWords === 0);
    if (!isSplit) return tail - head >= size ? head : -1;
    const left = this.end - head;
    if (left >= size) return head;
    if (tail - this.start < size) return -1;
    this.words[head] = -left;
    this.usedWords += left;
    return this.start;
  }
}
