import { RowError } from '@weir/config-model';

/** Longest line of a snapshot in bytes. A line of a thousand profiles with many rules is far shorter. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
const LINE_FEED = 0x0a;

/**
 * The lines of a text, without their line feeds.
 * @throws RowError when a line is too long, or the last line has no line feed.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  /** The beginning of a line that goes on in the next chunk. */
  let pieces: Uint8Array[] = [];
  let pieceBytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      const line = chunk.subarray(start, end);
      yield pieces.length === 0 ? line : Buffer.concat([...pieces, line]);
      pieces = [];
      pieceBytes = 0;
      start = end + 1;
    }
    const rest = chunk.subarray(start);
    pieceBytes += rest.length;
    if (pieceBytes > MAX_LINE_BYTES) throw new RowError('a line is too long');
    if (rest.length > 0) pieces.push(rest);
  }
  if (pieceBytes > 0) throw new RowError('a text that ends within a line');
}
