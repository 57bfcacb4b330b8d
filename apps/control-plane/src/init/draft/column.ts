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
