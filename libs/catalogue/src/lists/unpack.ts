import { Readable, pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CatalogueError } from '../catalogue-error.js';
import { bounded, type ByteStream, type ListLimits } from './list.js';

/**
 * Reads the first bytes of a stream without consuming them.
 * @returns `head`: at least `count` bytes unless the stream is shorter. `whole`: the stream from its beginning; read
 *   it or `close` it.
 */
export async function peek(
  stream: ByteStream,
  count: number,
): Promise<{ head: Uint8Array; whole: AsyncGenerator<Uint8Array> }> {
  const chunks = stream[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array(0);
  while (head.length < count) {
    const next = await chunks.next();
    if (next.done === true) break;
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
  }
  return { head, whole: joined(head, chunks) };
}

/** `head`, then the rest of a stream that has begun. */
export async function* joined(
  head: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield head;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      yield next.value;
    }
  } finally {
    await rest.return?.();
  }
}

/** Closes a stream that is not read. A generator that was never started would not close its source. */
export async function close(whole: AsyncGenerator<Uint8Array>): Promise<void> {
  await whole.next();
  await whole.return(undefined);
}

const GZIP_MAGIC = [0x1f, 0x8b];
/** Other compression formats by their first bytes, so that the error can name them. */
const OTHER_PACKERS: readonly (readonly [string, readonly number[]])[] = [
  ['zip', [0x50, 0x4b, 0x03, 0x04]],
  ...Array.from('123456789', (level): [string, number[]] => [
    'bzip2',
    [...Buffer.from(`BZh${level}`)],
  ]),
  ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['7z', [0x37, 0x7a, 0xbc, 0xaf]],
];
const PEEKED_BYTES = 5;

/** The bytes of a list, decompressed if they are gzip. @throws CatalogueError while iterated: too large, or invalid. */
export async function* unpack(stream: ByteStream, limits: ListLimits): AsyncGenerator<Uint8Array> {
  const { head, whole } = await peek(bounded(stream, limits.maxBytes), PEEKED_BYTES);
  for (const [name, magic] of OTHER_PACKERS) {
    if (!begins(head, magic)) continue;
    await close(whole);
    throw new CatalogueError(`is packed with ${name}; gzip and plain text can be read`);
  }
  const unpacked = begins(head, GZIP_MAGIC) ? gunzip(whole) : whole;
  yield* bounded(unpacked, limits.maxUnpackedBytes, ' unpacked');
}

function begins(head: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, i) => head[i] === byte);
}

async function* gunzip(stream: ByteStream): AsyncGenerator<Uint8Array> {
  const unpacker = createGunzip({ chunkSize: 64 * 1024 });
  // The iteration below throws the error that ends the pipeline.
  pipeline(Readable.from(stream), unpacker, () => undefined);
  try {
    yield* unpacker as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw error;
    throw new CatalogueError(`is not valid gzip: ${(error as Error).message}`, { cause: error });
  }
}

const NEWLINE = 0x0a;

/** What lines are given to. */
export interface LineSink {
  /** A line: bytes `start` … `end` − 1 of `bytes`, without its line feed. Valid during the call. */
  line(bytes: Uint8Array, start: number, end: number): void;
  /** Instead of `line`, for a line of more than `maxLineBytes`. */
  tooLongLine(): void;
}

/** Splits chunks into lines. Holds at most one line, and nothing of a line that is too long. */
export class LineSplitter {
  /** The bytes of the current line from earlier chunks. */
  private readonly carried: Uint8Array;
  private carriedBytes = 0;
  private isTooLong = false;

  constructor(
    private readonly maxLineBytes: number,
    private readonly lines: LineSink,
  ) {
    this.carried = new Uint8Array(maxLineBytes);
  }

  push(chunk: Uint8Array): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.endLine(chunk, start, end);
      start = end + 1;
    }
    this.carry(chunk, start);
  }

  /** The last line may lack its line feed. */
  end(): void {
    if (this.carriedBytes > 0 || this.isTooLong) this.endLine(this.carried, 0, 0);
  }

  private endLine(chunk: Uint8Array, start: number, end: number): void {
    if (this.carriedBytes === 0 && !this.isTooLong && end - start <= this.maxLineBytes) {
      this.lines.line(chunk, start, end);
      return;
    }
    this.carry(chunk.subarray(0, end), start);
    if (this.isTooLong) this.lines.tooLongLine();
    else this.lines.line(this.carried, 0, this.carriedBytes);
    this.carriedBytes = 0;
    this.isTooLong = false;
  }

  private carry(chunk: Uint8Array, start: number): void {
    const bytes = chunk.length - start;
    if (this.isTooLong || this.carriedBytes + bytes > this.maxLineBytes) {
      this.isTooLong = true;
      return;
    }
    this.carried.set(chunk.subarray(start), this.carriedBytes);
    this.carriedBytes += bytes;
  }
}
