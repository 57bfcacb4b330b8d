/** A row, message or operation is not valid. The error message says where; it never contains texts of the input. */
export class RowError extends Error {
  override readonly name = 'RowError';
}

/** Reads the values of one row in order, each checked against its range. */
export class RowReader {
  private position = 0;

  private constructor(
    private readonly kind: string,
    private readonly row: readonly unknown[],
  ) {}

  /** Reads a whole row. @throws RowError when the row is not an array, `read` fails, or values are left over. */
  static readAll<T>(kind: string, row: unknown, read: (reader: RowReader) => T): T {
    if (!Array.isArray(row)) throw new RowError(`${kind}: a row is an array`);
    const reader = new RowReader(kind, row as unknown[]);
    const result = read(reader);
    if (reader.position !== row.length) {
      throw new RowError(`${kind}: ${row.length} values instead of ${reader.position}`);
    }
    return result;
  }

  /** The next value, an integer from `lowest` to `highest`. */
  integer(name: string, lowest: number, highest: number): number {
    const value = this.row[this.position++];
    if (
      typeof value !== 'number' ||
      !Number.isInteger(value) ||
      value < lowest ||
      value > highest
    ) {
      throw new RowError(`${this.kind}: ${name} is an integer from ${lowest} to ${highest}`);
    }
    return value;
  }

  /** The next value, as `integer`, or null. */
  integerOrNull(name: string, lowest: number, highest: number): number | null {
    if (this.row[this.position] === null) {
      this.position++;
      return null;
    }
    return this.integer(name, lowest, highest);
  }

  /** The next values: how many items, then each as `item` reads it. */
  list<T>(name: string, item: () => T): T[] {
    const length = this.integer(`length of ${name}`, 0, this.row.length);
    return Array.from({ length }, item);
  }
}
