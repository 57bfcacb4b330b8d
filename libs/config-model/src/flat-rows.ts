import { type Row, RowError } from './rows.js';

/** Stands for null. No row has a negative value. */
export const FLAT_NULL = -1;

/** Rows of one kind, one behind the other in one array: a snapshot of millions needs no object for each of them. */
export class FlatRows implements Iterable<Row> {
  /**
   * @param values integers from 0, or `FLAT_NULL`.
   * @param ends for each row: the index in `values` behind its last one.
   */
  constructor(
    readonly values: Float64Array,
    readonly ends: Uint32Array,
  ) {}

  /** @throws RowError when one is not a list of nulls and integers from 0. */
  static of(rows: readonly unknown[]): FlatRows {
    const values: number[] = [];
    const ends: number[] = [];
    for (const row of rows) {
      if (!Array.isArray(row)) throw new RowError('a row is an array');
      for (const value of row as unknown[]) values.push(flat(value));
      ends.push(values.length);
    }
    return new FlatRows(Float64Array.from(values), Uint32Array.from(ends));
  }

  get length(): number {
    return this.ends.length;
  }

  *[Symbol.iterator](): Generator<Row, undefined> {
    for (let i = 0; i < this.length; i++) yield this.row(i);
  }

  row(index: number): Row {
    const row = this.values.subarray(this.startOf(index), this.ends[index]);
    return Array.from(row, (value) => (value === FLAT_NULL ? null : value));
  }

  /** These rows in pieces of this size, which have the same values without a copy. */
  *pieces(rows: number): Generator<FlatRows, undefined> {
    for (let from = 0; from < this.length; from += rows) {
      const start = this.startOf(from);
      const ends = this.ends.slice(from, from + rows);
      for (let i = 0; i < ends.length; i++) ends[i] -= start;
      yield new FlatRows(this.values.subarray(start), ends);
    }
  }

  /** The index in `values` of the first one of a row. */
  startOf(index: number): number {
    return index === 0 ? 0 : this.ends[index - 1];
  }

  /** What `JSON.stringify` writes. */
  toJSON(): readonly Row[] {
    return [...this];
  }
}

function flat(value: unknown): number {
  if (value === null) return FLAT_NULL;
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw new RowError('a row has nulls and integers from 0');
}
