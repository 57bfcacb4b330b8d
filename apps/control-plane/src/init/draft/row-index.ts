const EMPTY = -1;

/** Finds rows by their keys: an open-addressing table of row numbers. The keys stay where they are, in columns. */
export class RowIndex {
  private readonly slots: Int32Array;
  private readonly mask: number;

  /** @param capacity rows at most. */
  constructor(capacity: number) {
    let size = 16;
    while (size < capacity * 2) size *= 2;
    this.slots = new Int32Array(size).fill(EMPTY);
    this.mask = size - 1;
  }

  /**
   * @param hash of the row's key, 32 bits.
   * @param isSame whether another row has the same key.
   * @returns the row that has the key already; null when there was none: then `row` has it from now on.
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

  /** The row whose key `isSame` finds; null when there is none. */
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
