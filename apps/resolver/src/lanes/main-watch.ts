/** Watches from a lane whether the main thread makes turns. Times are real ones: a clock that was set would not do. */
export class MainWatch {
  private turns = 0;
  private seenMs = Infinity;
  private nowMs = 0;

  /**
   * @param word counts its turns
   * @param patienceMs after so long without a turn it is late; 0: always
   */
  constructor(
    private readonly word: Int32Array,
    private readonly patienceMs: number,
  ) {}

  /** To be called in each turn of the lane. */
  update(nowMs: number): void {
    const turns = Atomics.load(this.word, 0);
    if (turns !== this.turns || this.seenMs === Infinity) this.seenMs = nowMs;
    this.turns = turns;
    this.nowMs = nowMs;
  }

  isLate(): boolean {
    return this.nowMs - this.seenMs >= this.patienceMs;
  }
}
