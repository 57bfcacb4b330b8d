import type { StoredBytes } from './stored-bytes.js';

/** Counts downloads of one kind. */
export class SentDownloads {
  /** Downloads that were begun. A download that is continued counts again. */
  downloads = 0;
  bytes = 0;

  /** The same bytes; they count when they are read. */
  counted(stored: StoredBytes): StoredBytes {
    this.downloads++;
    return {
      sizeBytes: stored.sizeBytes,
      read: (start, end) => this.count(stored.read(start, end)),
    };
  }

  private async *count(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      this.bytes += piece.length;
      yield piece;
    }
  }
}
