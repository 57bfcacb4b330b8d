import { randomUUID } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { constants, createZstdCompress } from 'node:zlib';
import type { KeptFile } from './kept-file.js';
import type { StoredBytes } from './stored-bytes.js';

/** A file on the disk that is sent to many. It is closed when it is retired and nobody holds it any more. */
export class HeldFile implements StoredBytes {
  readonly etag = `"${randomUUID()}"`;
  private holders = 0;
  private isRetired = false;

  constructor(private readonly file: KeptFile) {}

  get sizeBytes(): number {
    return this.file.sizeBytes;
  }

  /** Whether the disk does not give it back. */
  get isLost(): boolean {
    return this.file.isLost;
  }

  read(start: number, end: number): AsyncIterable<Uint8Array> {
    return this.file.read(start, end);
  }

  /** Keeps it open until `release`. @returns false: it is closed already. */
  hold(): boolean {
    if (this.isLost) return false;
    this.holders++;
    return true;
  }

  release(): void {
    this.holders--;
    this.closeIfUnused();
  }

  /** It will not be sent to others any more. */
  retire(): void {
    this.isRetired = true;
    this.closeIfUnused();
  }

  private closeIfUnused(): void {
    if (this.isRetired && this.holders === 0) void this.file.close();
  }
}

/** The same, compressed with zstd. */
export function compressed(source: AsyncIterable<string | Uint8Array>): AsyncIterable<Uint8Array> {
  const compress = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });
  // An error of the source ends the reader of what is compressed.
  pipeline(Readable.from(source, { objectMode: true }), compress, () => undefined);
  return compress;
}
