/** Number of slots that a key may be in. */
const WAYS = 4;
const WORDS = 4;
/** Word offsets in a slot: two words of the key, then the second, then the count of that second. */
const SECOND = 2;
const COUNT = 3;

/**
 * Counts the actions of each subscriber per second, in fixed memory that threads can share. When too many subscribers
 * come in one second, older slots are overwritten, then any. So the table may allow too much.
 *
 * Threads do not wait for each other. Counting is exact once a slot has its subscriber. Threads that take a slot at the
 * same instant, at the first action of a second, may forget each other's action; and an action may be counted for the
 * subscriber who takes the slot over.
 */
export class RateTable {
  private readonly slots: Int32Array;
  private readonly mask: number;

  /**
   * @param slotCount a power of two, 4 or more
   * @param memory of the table of another thread, to count together with it
   */
  constructor(
    slotCount: number,
    readonly memory = new SharedArrayBuffer(slotCount * WORDS * Int32Array.BYTES_PER_ELEMENT),
  ) {
    this.slots = new Int32Array(memory);
    this.mask = slotCount - WAYS;
  }

  /**
   * Counts one more action, or that many more, unless they exceed the limit.
   * @param first, second key whose bits clients cannot choose (`SubscriberKey`), signed
   * @param nowSeconds whole seconds above 0
   * @returns whether the subscriber is still within `limit` in this second
   */
  allows(first: number, second: number, nowSeconds: number, limit: number, count = 1): boolean {
    const { slots } = this;
    const at = this.slotOf(first, second, nowSeconds);
    if (slots[at] !== first || slots[at + 1] !== second || slots[at + SECOND] !== nowSeconds) {
      slots[at] = first;
      slots[at + 1] = second;
      slots[at + SECOND] = nowSeconds;
      slots[at + COUNT] = 0;
    }
    if (slots[at + COUNT] + count > limit) return false;
    // Another thread may have counted meanwhile.
    if (Atomics.add(slots, at + COUNT, count) + count <= limit) return true;
    Atomics.sub(slots, at + COUNT, count);
    return false;
  }

  /** The slot of the key; else one of an earlier second; else the one with the lowest count. */
  private slotOf(first: number, second: number, nowSeconds: number): number {
    const { slots } = this;
    const start = (first & this.mask) * WORDS;
    let best = start;
    for (let at = start; at < start + WAYS * WORDS; at += WORDS) {
      if (slots[at] === first && slots[at + 1] === second) return at;
      if (slots[best + SECOND] !== nowSeconds) continue;
      if (slots[at + SECOND] !== nowSeconds || slots[at + COUNT] < slots[best + COUNT]) best = at;
    }
    return best;
  }
}
