import type { WriteStream } from 'node:tty';

type Output = Pick<NodeJS.WritableStream, 'write'> & Pick<WriteStream, 'isTTY'>;

const MIB = 1024 * 1024;
const PROGRESS_EVERY_MS = 200;
const ERASE_LINE = '\r\u001b[K';

/** The output of a command: results on stdout, progress and errors on stderr. */
export class Terminal {
  private lastProgressMs = 0;

  constructor(
    private readonly output: Output,
    private readonly errors: Output,
  ) {}

  print(line: string): void {
    this.clear();
    this.output.write(`${line}\n`);
  }

  printError(line: string): void {
    this.clear();
    this.errors.write(`${line}\n`);
  }

  /** Shows how much was read. Prints nothing unless stderr is a terminal. */
  progress(name: string, bytes: number): void {
    const nowMs = performance.now();
    if (!this.errors.isTTY || nowMs - this.lastProgressMs < PROGRESS_EVERY_MS) return;
    this.lastProgressMs = nowMs;
    this.errors.write(`${ERASE_LINE}${name}: ${(bytes / MIB).toFixed(1)} MiB`);
  }

  private clear(): void {
    if (this.errors.isTTY && this.lastProgressMs > 0) this.errors.write(ERASE_LINE);
    this.lastProgressMs = 0;
  }
}

/** Rows in columns; the first `left` columns are aligned to the left, the others to the right. */
export function table(rows: readonly (readonly string[])[], left: number): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column].length)),
  );
  return rows.map((row) =>
    row
      .map((cell, i) => (i < left ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
      .join('  ')
      .trimEnd(),
  );
}

/** As `1,234,567`. */
export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
