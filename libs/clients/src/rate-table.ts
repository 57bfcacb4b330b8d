/** Slots that one key may be in. */
const WAYS = 4;
const WORDS = 4;
/** Offsets of the words of a slot: the key, two words, then the second and what was done in it. */
const SECOND = 2;
const COUNT = 3;

/**
 * Counts what each subscriber does in each second, in fixed memory. When more come in a second than fit, those of earlier seconds are
 * forgotten, then anyone, so the table may let too much pass, and is never wrong the other way.
 */
export class RateTable {
  private readonly slots: Int32Array;
  private readonly mask: number;

  /** @param slotCount a power of two, 4 or more */
  constructor(slotCount: number) {
    this.slots = new Int32Array(slotCount * WORDS);
    this.mask = slotCount - WAYS;
  }

  /**
   * Counts one more. Seconds are whole and above 0.
   * @param first @param second a key whose bits nobody can choose (`SubscriberKey`), signed
   * @returns whether the subscriber has done at most `most` in this second
   */
  allows(first: number, second: number, nowSeconds: number, most: number): boolean {
    const { slots } = this;
    const at = this.slotOf(first, second, nowSeconds);
    if (slots[at] !== first || slots[at + 1] !== second || slots[at + SECOND] !== nowSeconds) {
      slots[at] = first;
      slots[at + 1] = second;
      slots[at + SECOND] = nowSeconds;
      slots[at + COUNT] = 0;
    }
    if (slots[at + COUNT] >= most) return false;
    slots[at + COUNT]++;
    return true;
  }

  /** The slot of the key; else one of an earlier second; else the one that has counted least. */
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
