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
 * Finds rows by their keys: a hash table of row numbers with open addressing. The keys themselves stay in the columns.
 * Each slot has the row and the hash of its key, so that a key is compared only with those of the same hash.
 */
export class RowIndex {
  private readonly slots: Int32Array;
  private readonly mask: number;

  /** @param capacity maximum number of rows. */
  constructor(capacity: number) {
    let size = 16;
    while (size < capacity * 2) size *= 2;
    this.slots = new Int32Array(size * 2).fill(EMPTY);
    this.mask = size - 1;
  }

  /**
   * @param hash of the row's key, 32 bits.
   * @param isSame whether another row has the same key.
   * @returns the row that already has the key; null when there was none, and `row` was added.
   */
  add(row: number, hash: number, isSame: (other: number) => boolean): number | null {
    const slot = this.slotOf(hash, isSame);
    const other = this.slots[slot];
    if (other !== EMPTY) return other;
    this.slots[slot] = row;
    this.slots[slot + 1] = hash;
    return null;
  }

  /** @returns the row for which `isSame` is true; null when there is none. */
  find(hash: number, isSame: (other: number) => boolean): number | null {
    const other = this.slots[this.slotOf(hash, isSame)];
    return other === EMPTY ? null : other;
  }

  /** The slot of the row with the same key, else the empty slot where it would be. */
  private slotOf(hash: number, isSame: (other: number) => boolean): number {
    const { slots, mask } = this;
    const word = hash | 0;
    let at = (mix(word) >>> 0) & mask;
    for (let row = slots[2 * at]; row !== EMPTY; row = slots[2 * at]) {
      if (slots[2 * at + 1] === word && isSame(row)) break;
      at = (at + 1) & mask;
    }
    return 2 * at;
  }
}

/** Finds rows by their keys: the values of some columns. */
export class KeyIndex {
  private rows = new RowIndex(0);

  constructor(private readonly columns: readonly Pick<Column, 'at'>[]) {}

  /**
   * Takes this many rows, in place of those before. Each key leads to its first row.
   * @param onDuplicate gets each further one, and the first.
   */
  fill(count: number, onDuplicate?: (row: number, first: number) => void): void {
    this.rows = new RowIndex(count);
    for (let row = 0; row < count; row++) {
      const key = this.columns.map((column) => column.at(row));
      const first = this.rows.add(row, hashWords(...key), (other) => this.is(other, key));
      if (first !== null) onDuplicate?.(row, first);
    }
  }

  /** @returns null: no row has the key. */
  find(...key: readonly number[]): number | null {
    return this.rows.find(hashWords(...key), (row) => this.is(row, key));
  }

  is(row: number, key: readonly number[]): boolean {
    return this.columns.every((column, i) => column.at(row) === key[i]);
  }
}

/** One hash of several numbers, of whose integers it takes the lowest 32 bits. */
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
