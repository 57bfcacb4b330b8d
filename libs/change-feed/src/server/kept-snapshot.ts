import type { Head } from '@weir/config-model';
import { randomUUID } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { constants, createZstdCompress } from 'node:zlib';
import type { SnapshotPart } from '../protocol/protocol.js';
import { writeSnapshot } from '../protocol/snapshot-stream.js';
import type { KeptFile, KeptFolder } from './kept-file.js';
import type { StoredBytes } from './stored-bytes.js';

/** A snapshot on the disk, compressed. It is closed when it is retired and nobody holds it any more. */
export class KeptSnapshot implements StoredBytes {
  readonly etag = `"${randomUUID()}"`;
  private holders = 0;
  private isRetired = false;

  /** @param madeMs when it began to be made. */
  constructor(
    readonly head: Head,
    private readonly file: KeptFile,
    readonly madeMs: number,
  ) {}

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

/** Makes a snapshot of the parts. @throws KeptFileError; what `parts` throws. */
export async function makeSnapshot(
  folder: KeptFolder,
  parts: AsyncIterable<SnapshotPart>,
  madeMs: number,
): Promise<KeptSnapshot> {
  const heads: Head[] = [];
  async function* noticeHead(): AsyncGenerator<SnapshotPart> {
    for await (const part of parts) {
      if (part.type === 'head') heads.push(part);
      yield part;
    }
  }
  const file = await folder.write(compressed(writeSnapshot(noticeHead())));
  const [head] = heads;
  if (head === undefined) throw new Error('a snapshot without a head');
  const { lineage, revision, digest } = head;
  return new KeptSnapshot({ lineage, revision, digest }, file, madeMs);
}

function compressed(lines: AsyncIterable<string>): AsyncIterable<Uint8Array> {
  const compress = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });
  // An error of the lines ends the reader of what is compressed.
  pipeline(Readable.from(lines, { objectMode: true }), compress, () => undefined);
  return compress;
}
