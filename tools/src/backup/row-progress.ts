const EVERY_MS = 5_000;

/** Logs every few seconds how many rows of a table have passed. */
export class RowProgress {
  private rows = 0;
  private toldMs = performance.now();

  constructor(
    private readonly what: string,
    private readonly log: (line: string) => void,
  ) {}

  /** Counts the rows of a chunk in the text format of COPY: each row is a line. */
  pass(piece: Buffer): void {
    for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) this.rows++;
    if (performance.now() - this.toldMs < EVERY_MS) return;
    this.toldMs = performance.now();
    this.log(`${this.what}: ${this.rows.toLocaleString('en')} rows`);
  }

  get count(): number {
    return this.rows;
  }
}
