interface Numbers {
  readonly length: number;
  [index: number]: number;
  set(source: this): void;
}

const INITIAL_ROWS = 1024;

/**
 * A growing column of numbers of one type. A million rows take a few megabytes. There are three types: V8 has no fast
 * access to elements for code that meets more than four types of arrays.
 */
export class Column {
  length = 0;
  private numbers: Numbers;

  private constructor(private readonly make: (length: number) => Numbers) {
    this.numbers = make(INITIAL_ROWS);
  }

  static readonly int32 = (): Column => new Column((length) => new Int32Array(length));
  static readonly uint32 = (): Column => new Column((length) => new Uint32Array(length));
  static readonly float64 = (): Column => new Column((length) => new Float64Array(length));

  push(value: number): void {
    if (this.length === this.numbers.length) {
      const grown = this.make(this.length * 2);
      grown.set(this.numbers);
      this.numbers = grown;
    }
    this.numbers[this.length++] = value;
  }

  /** @param row below `length`. */
  at(row: number): number {
    return this.numbers[row];
  }

  set(row: number, value: number): void {
    this.numbers[row] = value;
  }
}

const EMPTY = -1;

/**
 * Finds rows by their keys, the values of some columns: a hash table of row numbers with open addressing. The keys
 * themselves stay in the columns. Each slot has the row and the hash of its key, so that a key is compared only with
 * those of the same hash.
 */
export class KeyIndex {
  private slots = new Int32Array(2).fill(EMPTY);

  constructor(private readonly columns: readonly Column[]) {}

  /**
   * Takes this many rows, in place of those before. Each key leads to its first row.
   * @param onDuplicate gets each further one, and the first.
   */
  fill(count: number, onDuplicate?: (row: number, first: number) => void): void {
    let size = 16;
    while (size < count * 2) size *= 2;
    const slots = new Int32Array(size * 2).fill(EMPTY);
    this.slots = slots;
    for (let row = 0; row < count; row++) {
      const key = this.columns.map((column) => column.at(row));
      const hash = hashOf(key);
      const slot = this.slotOf(hash, key);
      if (slots[slot] === EMPTY) {
        slots[slot] = row;
        slots[slot + 1] = hash;
      } else onDuplicate?.(row, slots[slot]);
    }
  }

  /** @returns null: no row has the key. */
  find(...key: readonly number[]): number | null {
    const row = this.slots[this.slotOf(hashOf(key), key)];
    return row === EMPTY ? null : row;
  }

  /** Whether the columns of this row have these values. Further values of `key` do not count. */
  is(row: number, key: readonly number[]): boolean {
    return this.columns.every((column, i) => column.at(row) === key[i]);
  }

  /** The slot of the row with the same key, else the empty slot where it would be. */
  private slotOf(hash: number, key: readonly number[]): number {
    const { slots } = this;
    const mask = slots.length / 2 - 1;
    let at = hash & mask;
    for (let row = slots[2 * at]; row !== EMPTY; row = slots[2 * at]) {
      if (slots[2 * at + 1] === hash && this.is(row, key)) break;
      at = (at + 1) & mask;
    }
    return 2 * at;
  }
}

/** A 32-bit hash. It uses the lowest 32 bits of each integer. */
function hashOf(words: readonly number[]): number {
  let hash = 0;
  for (const word of words) hash = mix(Math.imul(hash, 31) ^ word);
  return mix(hash);
}

function mix(word: number): number {
  let hash = word ^ (word >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  return Math.imul(hash, 0xc2b2ae35) ^ (hash >>> 16);
}
