const EMPTY = -1;

/**
 * Finds rows by their keys: a hash table of row numbers with open addressing. The keys themselves stay in the columns.
 */
export class RowIndex {
  private readonly slots: Int32Array;
  private readonly mask: number;

  /** @param capacity maximum number of rows. */
  constructor(capacity: number) {
    let size = 16;
    while (size < capacity * 2) size *= 2;
    this.slots = new Int32Array(size).fill(EMPTY);
    this.mask = size - 1;
  }

  /**
   * @param hash of the row's key, 32 bits.
   * @param isSame whether another row has the same key.
   * @returns the row that already has the key; null when there was none, and `row` was added.
   */
  add(row: number, hash: number, isSame: (other: number) => boolean): number | null {
    let slot = this.slot(hash);
    for (let other = this.slots[slot]; other !== EMPTY;) {
      if (isSame(other)) return other;
      slot = (slot + 1) & this.mask;
      other = this.slots[slot];
    }
    this.slots[slot] = row;
    return null;
  }

  /** @returns the row for which `isSame` is true; null when there is none. */
  find(hash: number, isSame: (other: number) => boolean): number | null {
    let slot = this.slot(hash);
    for (let other = this.slots[slot]; other !== EMPTY;) {
      if (isSame(other)) return other;
      slot = (slot + 1) & this.mask;
      other = this.slots[slot];
    }
    return null;
  }

  private slot(hash: number): number {
    return (mix(hash) >>> 0) & this.mask;
  }
}

/** One hash of several 32-bit words. */
export function hashWords(...words: readonly number[]): number {
  let hash = 0;
  for (const word of words) hash = mix(Math.imul(hash, 31) ^ word);
  return hash;
}

function mix(word: number): number {
  let hash = word ^ (word >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  return Math.imul(hash, 0xc2b2ae35) ^ (hash >>> 16);
}
