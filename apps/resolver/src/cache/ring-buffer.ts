/**
 * A FIFO ring buffer of records of different sizes, in a part of an `Int32Array`. A record is a run of words that never
 * wraps around. Its first word is its size in words; the size is negative when the record is dead, as is the filler
 * before the end of the ring. The rest of a record belongs to the caller.
 */
export class RingBuffer {
  /** Words in use, including dead ones. */
  used = 0;
  private head: number;
  private tail: number;

  /**
   * @param start first word of the part
   * @param end the word after its last
   */
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

  /** Whether the offset is one of this ring. */
  contains(offset: number): boolean {
    return offset >= this.start && offset < this.end;
  }

  /**
   * Allocates a record of `size` words, 1 … `capacity`, and sets its first word.
   * @returns its offset, or −1 when the oldest record must be released first
   */
  reserve(size: number): number {
    if (this.used === 0) this.head = this.tail = this.start;
    const offset = this.place(size);
    if (offset < 0) return -1;
    this.words[offset] = size;
    this.used += size;
    this.head = offset + size === this.end ? this.start : offset + size;
    return offset;
  }

  /** Offset of the oldest record, dead or alive; −1 when the ring is empty. */
  oldest(): number {
    return this.used === 0 ? -1 : this.tail;
  }

  /** Frees the oldest record. Its words stay unchanged until the next `reserve`. */
  release(): void {
    const size = Math.abs(this.words[this.tail]);
    this.used -= size;
    this.tail = this.tail + size === this.end ? this.start : this.tail + size;
  }

  /** Frees all records. */
  clear(): void {
    this.used = 0;
  }

  /** Where a record of `size` words fits next. Writes a filler when that is the start of the ring. */
  private place(size: number): number {
    const { head, tail } = this;
    const isSplit = head > tail || (head === tail && this.used === 0);
    if (!isSplit) return tail - head >= size ? head : -1;
    const left = this.end - head;
    if (left >= size) return head;
    if (tail - this.start < size) return -1;
    this.words[head] = -left;
    this.used += left;
    return this.start;
  }
}
