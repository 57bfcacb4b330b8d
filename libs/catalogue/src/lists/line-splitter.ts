const NEWLINE = 0x0a;

/** Is called for each line: bytes `start` … `end` − 1 of `bytes`, without its line feed. Valid during the call. */
export type OnLine = (bytes: Uint8Array, start: number, end: number) => void;

/** Splits chunks into lines. Holds at most one line, and nothing of a line that is too long. */
export class LineSplitter {
  /** The bytes of the current line from earlier chunks. */
  private readonly carried: Uint8Array;
  private carriedBytes = 0;
  private isTooLong = false;

  /** @param onTooLong is called instead of `onLine` for a line of more than `maxLineBytes`. */
  constructor(
    private readonly maxLineBytes: number,
    private readonly onLine: OnLine,
    private readonly onTooLong: () => void,
  ) {
    this.carried = new Uint8Array(maxLineBytes);
  }

  push(chunk: Uint8Array): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.endLine(chunk, start, end);
      start = end + 1;
    }
    this.carry(chunk, start);
  }

  /** The last line may lack its line feed. */
  end(): void {
    if (this.carriedBytes > 0 || this.isTooLong) this.endLine(this.carried, 0, 0);
  }

  private endLine(chunk: Uint8Array, start: number, end: number): void {
    if (this.carriedBytes === 0 && !this.isTooLong && end - start <= this.maxLineBytes) {
      this.onLine(chunk, start, end);
      return;
    }
    this.carry(chunk.subarray(0, end), start);
    if (this.isTooLong) this.onTooLong();
    else this.onLine(this.carried, 0, this.carriedBytes);
    this.carriedBytes = 0;
    this.isTooLong = false;
  }

  private carry(chunk: Uint8Array, start: number): void {
    const bytes = chunk.length - start;
    if (this.isTooLong || this.carriedBytes + bytes > this.maxLineBytes) {
      this.isTooLong = true;
      return;
    }
    this.carried.set(chunk.subarray(start), this.carriedBytes);
    this.carriedBytes += bytes;
  }
}
