import { StartError } from '@weir/ops';

/** The line after the rows of a table. No row in the text format of COPY looks like this. */
export const END_OF_ROWS = '\\.\n';

const END = Buffer.from(`\n${END_OF_ROWS}`);
const NEWLINE = 10;
/** Maximum length of a line that is not a row. */
const MAX_LINE_BYTES = 1024 * 1024;

/**
 * Reads lines, and blocks of rows in the text format of COPY, from a stream of chunks. A row may be longer than memory.
 */
export class CopyLines {
  private rest: Buffer = Buffer.alloc(0);
  private readonly pieces: AsyncIterator<Buffer>;

  constructor(pieces: AsyncIterable<Buffer>) {
    this.pieces = pieces[Symbol.asyncIterator]();
  }

  /** The next line without its newline; null after the last one. @throws StartError when the newline is missing. */
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

  /** The rows up to `END_OF_ROWS`, which is consumed. @throws StartError when the bytes end before that. */
  async *rows(): AsyncGenerator<Buffer> {
    // The table may have no rows: then the end marker is the first line.
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

/** How many bytes at the end of the buffer may be the start of `END`. */
function partialEndLength(bytes: Buffer): number {
  for (let length = Math.min(END.length - 1, bytes.length); length > 0; length--) {
    if (bytes.subarray(-length).equals(END.subarray(0, length))) return length;
  }
  return 0;
}
