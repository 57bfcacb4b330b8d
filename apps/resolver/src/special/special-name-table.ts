import { type HashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import { Special, type SpecialZone } from './special-names.js';

/** Table value of a name that is not special but has a special name below it. */
const ABOVE = -1;
const EMPTY_SLOT = -2;
/** Minimum number of table slots for each name. */
const SPARSITY = 4;

/**
 * Finds the most specific special name that a name equals or is below. A hash table of suffix hashes that also holds
 * the parents of special names, so for most names one lookup of the top-level domain is enough. Allocates nothing.
 */
export class SpecialNameTable {
  /** Number of labels of the name that the last `find` returned. */
  labels = 0;
  private readonly low: Uint32Array;
  private readonly high: Uint32Array;
  private readonly values: Int8Array;
  private readonly mask: number;

  constructor(key: HashKey, zones: readonly SpecialZone[]) {
    const hashes = new SuffixHashes(key);
    const names = zones.reduce((sum, [name]) => sum + name.split('.').length, 0);
    const slots = 2 ** Math.ceil(Math.log2(Math.max(names, 1) * SPARSITY));
    this.mask = slots - 1;
    this.low = new Uint32Array(slots);
    this.high = new Uint32Array(slots);
    this.values = new Int8Array(slots).fill(EMPTY_SLOT);
    for (const [name, special] of zones) {
      const count = hashes.compute(toWireName(name), 0);
      for (let i = 0; i < count - 1; i++) this.put(hashes, i, ABOVE);
      this.put(hashes, count - 1, special);
    }
  }

  /** @param names the suffix hashes of the name */
  find(names: SuffixHashes): Special {
    let special: Special = Special.none;
    for (let i = 0; i < names.count; i++) {
      const value = this.values[this.slotOf(names, i)];
      if (value === EMPTY_SLOT) break;
      if (value === ABOVE) continue;
      special = value as Special;
      this.labels = i + 1;
    }
    return special;
  }

  private put(names: SuffixHashes, suffix: number, value: number): void {
    const slot = this.slotOf(names, suffix);
    if (value === ABOVE && this.values[slot] !== EMPTY_SLOT) return;
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
      this.values[slot] !== EMPTY_SLOT &&
      (this.low[slot] !== low || this.high[slot] !== high)
    ) {
      slot = (slot + 1) & this.mask;
    }
    return slot;
  }
}
