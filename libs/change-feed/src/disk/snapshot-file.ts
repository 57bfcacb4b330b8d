import { FlatRows, type Row, RowError } from '@weir/config-model';
import { createHash, type Hash } from 'node:crypto';
import type { FileThread } from '../files/file-thread.js';
import { FileWriter } from '../files/file-writer.js';
import { readChunks } from '../files/read-chunks.js';
import { FEED_VERSION } from '../protocol/feed-version.js';
import { readLines } from '../protocol/read-lines.js';
import type { SnapshotPart, SnapshotTrailer } from '../protocol/protocol.js';
import { readSnapshot } from '../protocol/snapshot-stream.js';
import { Yielder } from '../runtime/yielder.js';

/**
 * First line of a snapshot file. A file with another first line has another version, or is not a snapshot file. The
 * lines that follow are those of the feed.
 */
const FORMAT_LINE = `{"format":"weir-snapshot","version":${FEED_VERSION}}`;

/** What `JSON.stringify` writes behind the rows of a part. */
const REST = ']}';
const PIECE_ROWS = 50;

/**
 * Writes a snapshot file: the format line, the lines of the snapshot as the feed sends them, and last the sha256 of
 * all bytes before. The file is complete after `finish`.
 */
export class SnapshotFileWriter {
  private readonly hash: Hash = createHash('sha256');
  private readonly counts: Record<string, number> = {};
  private readonly yielder = new Yielder();
  private digest = '';
  /** Revision of the snapshot; −1 before its head was written. */
  revision = -1;

  private constructor(private readonly file: FileWriter) {}

  static async create(thread: FileThread, path: string): Promise<SnapshotFileWriter> {
    const writer = new SnapshotFileWriter(await FileWriter.create(thread, path));
    try {
      await writer.line(FORMAT_LINE);
      return writer;
    } catch (error) {
      await writer.abandon();
      throw error;
    }
  }

  async write(part: SnapshotPart): Promise<void> {
    if (part.type === 'head') {
      ({ digest: this.digest, revision: this.revision } = part);
      return this.line(JSON.stringify(part));
    }
    const { type, kind, rows } = part;
    this.counts[kind] = (this.counts[kind] ?? 0) + rows.length;
    const head = JSON.stringify({ type, kind, rows: [] }).slice(0, -REST.length);
    await this.line(`${head}${await this.textOf(rows)}${REST}`);
  }

  /** The rows as in a JSON array, written in pieces: queries have their turn in between. */
  private async textOf(rows: readonly Row[] | FlatRows): Promise<string> {
    const pieces: string[] = [];
    for (const piece of (rows instanceof FlatRows ? rows : FlatRows.of(rows)).pieces(PIECE_ROWS)) {
      pieces.push(JSON.stringify(piece).slice(1, -1));
      if (this.yielder.isDue) await this.yielder.yieldNow();
    }
    return pieces.join(',');
  }

  /** Completes the file and flushes it to the disk (fsync). */
  async finish(): Promise<void> {
    const trailer: SnapshotTrailer = { type: 'end', counts: this.counts, digest: this.digest };
    await this.line(JSON.stringify(trailer));
    await this.file.write(`${this.hash.digest('hex')}\n`);
    await this.file.finish();
  }

  /** Closes and removes the file. Does no harm after `finish`. */
  async abandon(): Promise<void> {
    await this.file.abandon();
  }

  private async line(text: string): Promise<void> {
    this.hash.update(`${text}\n`);
    await this.file.write(`${text}\n`);
  }
}

/**
 * The parts of a snapshot file.
 * @throws RowError when the file is damaged, truncated or of another version, at the latest after the last part; the
 *   error of `open` when there is no file.
 */
export async function* readSnapshotFile(
  thread: FileThread,
  path: string,
): AsyncGenerator<SnapshotPart> {
  yield* readSnapshot(verifiedLines(readChunks(thread, path)));
}

/**
 * The lines between the format line and the checksum.
 * @throws RowError after the last one if the checksum is wrong.
 */
async function* verifiedLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const lines = readLines(chunks);
  const format = await lines.next();
  if (format.done || asText(format.value) !== FORMAT_LINE)
    throw new RowError('not a snapshot file of this version');
  const hash = createHash('sha256').update(`${FORMAT_LINE}\n`);
  let held: Uint8Array = new Uint8Array();
  let isFirst = true;
  for await (const line of lines) {
    if (!isFirst) {
      hash.update(held).update('\n');
      yield held;
    }
    isFirst = false;
    held = line;
  }
  if (asText(held) !== hash.digest('hex'))
    throw new RowError('a snapshot file without its checksum');
}

function asText(line: Uint8Array): string {
  return Buffer.from(line.buffer, line.byteOffset, line.length).toString('latin1');
}
