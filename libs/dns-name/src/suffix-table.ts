import type { SuffixHashes } from './suffix-hashes.js';

/** Minimum number of slots for each name. */
const SPARSITY = 4;

/** A hash table from names, by their keyed hashes, to values. A lookup allocates nothing. */
export class SuffixTable<T> {
  private readonly low: Uint32Array;
  private readonly high: Uint32Array;
  private readonly values: (T | undefined)[];
  private readonly mask: number;

  constructor(capacity: number) {
    const slots = 2 ** Math.ceil(Math.log2(Math.max(capacity, 1) * SPARSITY));
    this.mask = slots - 1;
    this.low = new Uint32Array(slots);
    this.high = new Uint32Array(slots);
    this.values = Array.from({ length: slots }, () => undefined);
  }

  /** @param suffix index of the suffix in `names`. @returns undefined: the table does not have the name. */
  get(names: SuffixHashes, suffix: number): T | undefined {
    return this.values[this.slotOf(names, suffix)];
  }

  set(names: SuffixHashes, suffix: number, value: T): void {
    const slot = this.slotOf(names, suffix);
    this.low[slot] = names.low[suffix];
    this.high[slot] = names.high[suffix];
    this.values[slot] = value;
  }

  /** The slot of the suffix, or the empty slot where it would go. */
  private slotOf(names: SuffixHashes, suffix: number): number {
    const low = names.low[suffix];
    const high = names.high[suffix];
    let slot = low & this.mask;
    while (
      this.values[slot] !== undefined &&
      (this.low[slot] !== low || this.high[slot] !== high)
    ) {
      slot = (slot + 1) & this.mask;
    }
    return slot;
  }
}
