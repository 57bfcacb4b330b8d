/** Words of the state of a ring. */
export const RING_WORDS = 3;
const USED = 0;
const HEAD = 1;
const TAIL = 2;

/**
 * A FIFO ring buffer of records of different sizes, in a part of an `Int32Array`. A record is a run of words that never
 * wraps around. Its first word is its size in words; the size is negative when the record is dead, as is the filler
 * before the end of the ring. The rest of a record belongs to the caller. Several threads may use a ring one after the
 * other: its state is in memory, too.
 */
export class RingBuffer {
  /**
   * @param start first word of the part
   * @param end the word after its last
   * @param state where `RING_WORDS` words begin at `stateAt`; all are 0 when the ring is new
   */
  constructor(
    private readonly words: Int32Array,
    readonly start: number,
    private readonly end: number,
    private readonly state: Int32Array,
    private readonly stateAt: number,
  ) {}

  /** Words in use, including dead ones. */
  get used(): number {
    return this.state[this.stateAt + USED];
  }

  get capacity(): number {
    return this.end - this.start;
  }

  contains(offset: number): boolean {
    return offset >= this.start && offset < this.end;
  }

  /**
   * Allocates a record of `size` words, 1 … `capacity`, and sets its first word.
   * @returns its offset, or −1 when the oldest record must be released first
   */
  reserve(size: number): number {
    const { state, stateAt } = this;
    if (this.used === 0) state[stateAt + HEAD] = state[stateAt + TAIL] = this.start;
    const offset = this.place(size);
    if (offset < 0) return -1;
    this.words[offset] = size;
    state[stateAt + USED] += size;
    state[stateAt + HEAD] = offset + size === this.end ? this.start : offset + size;
    return offset;
  }

  /** Offset of the oldest record, dead or alive; −1 when the ring is empty. */
  oldest(): number {
    return this.used === 0 ? -1 : this.state[this.stateAt + TAIL];
  }

  /** Frees the oldest record. Its words stay unchanged until the next `reserve`. */
  release(): void {
    const { state, stateAt } = this;
    const tail = state[stateAt + TAIL];
    const size = Math.abs(this.words[tail]);
    state[stateAt + USED] -= size;
    state[stateAt + TAIL] = tail + size === this.end ? this.start : tail + size;
  }

  clear(): void {
    this.state[this.stateAt + USED] = 0;
  }

  /** Where a record of `size` words fits next. Writes a filler when that is the start of the ring. */
  private place(size: number): number {
    const { state, stateAt } = this;
    const head = state[stateAt + HEAD];
    const tail = state[stateAt + TAIL];
    const isSplit = head > tail || (head === tail && this.used === 0);
    if (!isSplit) return tail - head >= size ? head : -1;
    const left = this.end - head;
    if (left >= size) return head;
    if (tail - this.start < size) return -1;
    this.words[head] = -left;
    state[stateAt + USED] += left;
    return this.start;
  }
}
