import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { styleText } from 'node:util';

/** What is used of a stream of the process. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  hasColors?(): boolean;
}
type Style = Parameters<typeof styleText>[0];

const MIB = 1024 * 1024;
const PROGRESS_EVERY_MS = 200;
const ERASE_LINE = '\r\u001b[K';
const CLEAR_SCREEN = '\u001b[H\u001b[2J';

/** The output of a command: results on stdout, progress and errors on stderr. */
export class Terminal {
  private lastProgressMs = 0;

  constructor(
    private readonly output: Output,
    private readonly errors: Output,
  ) {}

  print(...lines: readonly string[]): void {
    this.clear();
    for (const line of lines) this.output.write(`${line}\n`);
  }

  printError(line: string): void {
    this.clear();
    this.errors.write(`${line}\n`);
  }

  /** Text in a colour, if stdout is a terminal that shows it and NO_COLOR is not set. */
  style(style: Style, text: string): string {
    return this.output.hasColors?.() === true
      ? styleText(style, text, { validateStream: false })
      : text;
  }

  /** Before what is shown again and again. Does nothing unless stdout is a terminal. */
  clearScreen(): void {
    if (this.output.isTTY === true) this.output.write(CLEAR_SCREEN);
  }

  /** Shows how much was read, and of how much. Prints nothing unless stderr is a terminal. */
  progress(name: string, bytes: number, size?: number): void {
    const nowMs = performance.now();
    const isDone = bytes === size;
    const isEarly = nowMs - this.lastProgressMs < PROGRESS_EVERY_MS && !isDone;
    if (this.errors.isTTY !== true || isEarly) return;
    this.lastProgressMs = nowMs;
    const of = size === undefined ? '' : ` of ${(size / MIB).toFixed(1)}`;
    this.errors.write(`${ERASE_LINE}${name}: ${(bytes / MIB).toFixed(1)}${of} MiB`);
  }

  /** Passes bytes on and shows how many. @returns the sum */
  async *withProgress(
    name: string,
    body: AsyncIterable<Uint8Array>,
    size?: number,
  ): AsyncGenerator<Uint8Array, number> {
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      this.progress(name, bytes, size);
      yield chunk;
    }
    return bytes;
  }

  /**
   * Prints rows in columns below headings.
   * @param left number of columns that are aligned to the left, the others to the right.
   * @param styleOf the style of the row with that number; undefined: none.
   */
  printTable(
    headings: readonly string[],
    rows: readonly (readonly string[])[],
    left: number,
    styleOf: (row: number) => Style | undefined = () => undefined,
  ): void {
    const [first, ...lines] = table([headings, ...rows], left);
    this.print(this.style('bold', first));
    for (const [i, line] of lines.entries()) {
      const style = styleOf(i);
      this.print(style === undefined ? line : this.style(style, line));
    }
  }

  private clear(): void {
    if (this.errors.isTTY === true && this.lastProgressMs > 0) this.errors.write(ERASE_LINE);
    this.lastProgressMs = 0;
  }
}

/** Nothing is read: it measures its prompt, as the only one in Node that knows how wide a character is. */
const ruler = createInterface({ input: new PassThrough() });

/** How many columns of a terminal a text without line breaks takes: an East Asian character and an emoji two. */
function widthOf(text: string): number {
  ruler.setPrompt(text);
  return ruler.getCursorPos().cols;
}

/** Rows in columns: the first `left` are aligned to the left, the others to the right. Cells may have a style. */
export function table(rows: readonly (readonly string[])[], left: number): string[] {
  const taken = rows.map((row) => row.map(widthOf));
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...taken.map((row) => row[i])));
  return rows.map((row, r) =>
    row
      .map((cell, i) => {
        const blanks = ' '.repeat(widths[i] - taken[r][i]);
        return i < left ? cell + blanks : blanks + cell;
      })
      .join('  ')
      .trimEnd(),
  );
}

/** A value of the API: `-` for none. Control characters, which a terminal would act on, are replaced. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replace(/[\p{Cc}\p{Cf}]/gu, '\ufffd');
}

/** As `1,234,567`. */
export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
