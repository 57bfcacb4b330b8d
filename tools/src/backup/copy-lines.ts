import { StartError } from '@weir/ops';

/** Ends the rows of a table, on a line of its own; no row of COPY's text format is this. */
export const END_OF_ROWS = '\\.\n';

const END = Buffer.from(`\n${END_OF_ROWS}`);
const NEWLINE = 10;
/** Longest line between the rows. */
const MAX_LINE_BYTES = 1024 * 1024;

/**
 * Reads lines, and rows in COPY's text format between them, from bytes as they come in pieces. A row may be longer
 * than memory.
 */
export class CopyLines {
  private rest: Buffer = Buffer.alloc(0);
  private readonly pieces: AsyncIterator<Buffer>;

  constructor(pieces: AsyncIterable<Buffer>) {
    this.pieces = pieces[Symbol.asyncIterator]();
  }

  /** The next line without its end; null behind the last. @throws StartError when it has no end. */
  async line(): Promise<string | null> {
    for (;;) {
      const end = this.rest.indexOf(NEWLINE);
      if (end >= 0) {
        const line = this.rest.toString('utf8', 0, end);
        this.rest = this.rest.subarray(end + 1);
        return line;
      }
      if (this.rest.length > MAX_LINE_BYTES) throw new StartError('it is no backup of Weir');
      if (await this.more()) continue;
      if (this.rest.length > 0) throw new StartError('it breaks off in the middle of a line');
      return null;
    }
  }

  /** The rows up to `END_OF_ROWS`, which is read too. @throws StartError when the bytes end before. */
  async *rows(): AsyncGenerator<Buffer> {
    // The end may be the first line.
    this.rest = Buffer.concat([END.subarray(0, 1), this.rest]);
    let skip = 1;
    for (;;) {
      const end = this.rest.indexOf(END);
      const until = end >= 0 ? end + 1 : this.rest.length - partialEndLength(this.rest);
      if (until > skip) yield this.rest.subarray(skip, until);
      skip = Math.max(0, skip - until);
      this.rest = this.rest.subarray(end >= 0 ? end + END.length : until);
      if (end >= 0) return;
      if (!(await this.more())) throw new StartError('it breaks off among the rows of a table');
    }
  }

  private async more(): Promise<boolean> {
    const next = await this.pieces.next();
    if (next.done === true) return false;
    this.rest = this.rest.length === 0 ? next.value : Buffer.concat([this.rest, next.value]);
    return true;
  }
}

/** How many bytes at the end may be the beginning of `END`. */
function partialEndLength(bytes: Buffer): number {
  for (let length = Math.min(END.length - 1, bytes.length); length > 0; length--) {
    if (bytes.subarray(-length).equals(END.subarray(0, length))) return length;
  }
  return 0;
}
