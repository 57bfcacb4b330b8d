import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { pipeline as pipe } from 'node:stream/promises';
import { constants, crc32, createZstdCompress } from 'node:zlib';
import { FileThread } from '../files/file-thread.js';

/** Pieces are large: few are held for a reader that is slow. */
const PIECES = { highWaterMark: 2 };

/** Stored bytes that never change, read in pieces. */
export interface StoredBytes {
  readonly sizeBytes: number;
  /** The bytes from `start` up to `end`, exclusive. */
  read(start: number, end: number): AsyncIterable<Uint8Array>;
}

/** The one form of a Range header that followers send (RFC 9110 §14.1.2). Any other is ignored. */
const REST = /^bytes=(\d{1,15})-$/;

/** Answers GET of stored bytes, all or from an offset on (RFC 9110 §14, §13.1.5). @param etag unique, in quotes */
export async function sendStored(
  stored: StoredBytes,
  etag: string,
  contentType: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { sizeBytes } = stored;
  response.setHeader('ETag', etag);
  response.setHeader('Accept-Ranges', 'bytes');
  const { range = '', 'if-range': ifRange } = request.headers;
  const rest = ifRange === undefined || ifRange === etag ? REST.exec(range) : null;
  const start = Number(rest?.[1] ?? 0);
  if (rest !== null && start >= sizeBytes) {
    response.writeHead(416, { 'Content-Range': `bytes */${sizeBytes}` }).end();
    return;
  }
  response.writeHead(rest ? 206 : 200, {
    'Content-Type': contentType,
    'Content-Length': sizeBytes - start,
    ...(rest && { 'Content-Range': `bytes ${start}-${sizeBytes - 1}/${sizeBytes}` }),
  });
  await pipe(Readable.from(stored.read(start, sizeBytes), PIECES), response);
}

/** Bytes that are read, and verified, at a time. */
const CHUNK_BYTES = 256 * 1024;
const PATIENCE_MS = 5_000;
/** A thread that waits for the disk cannot be ended. This many may wait, and then the disk is left alone. */
const MAX_HANGING = 3;

/** The disk is full, fails or does not answer. */
export class CacheFolderError extends Error {
  override readonly name = 'CacheFolderError';
}

export class CacheFolder {
  /** Those whose disk may not have answered yet. */
  private threads: FileThread[] = [];

  /** @param program what threads run; for tests. */
  constructor(
    readonly path: string,
    private readonly program?: URL,
    private readonly patienceMs = PATIENCE_MS,
  ) {}

  /** Writes the bytes to a new file. @throws CacheFolderError; what `bytes` throws. */
  async write(bytes: AsyncIterable<Uint8Array>): Promise<CachedFile> {
    this.threads = this.threads.filter(({ isHanging, isClosed }) => isHanging || !isClosed);
    if (this.threads.filter(({ isHanging }) => isHanging).length >= MAX_HANGING) {
      throw new CacheFolderError('the disk does not answer');
    }
    const { patienceMs, program } = this;
    const thread = new FileThread({ patienceMs, restarts: false, ...(program && { program }) });
    this.threads.push(thread);
    try {
      const file = await orCacheFolderError(CachedFile.create(thread, this.path));
      for await (const chunk of inChunks(bytes)) await orCacheFolderError(file.append(chunk));
      return file;
    } catch (error) {
      await thread.close();
      throw error;
    }
  }
}

/**
 * A file that this process sends to many. It has no name: it is gone when it is closed, or when the process ends in
 * whatever way, and several processes may use one folder. A thread of its own reads and writes it, so a disk that does
 * not answer holds nobody else up. A chunk that has changed on the disk is never given out. It is closed when it is
 * retired and nobody holds it any more.
 */
export class CachedFile implements StoredBytes {
  readonly etag = `"${randomUUID()}"`;
  sizeBytes = 0;
  isLost = false;
  private readonly checksums: number[] = [];
  private holders = 0;
  private isRetired = false;

  private constructor(
    private readonly thread: FileThread,
    private readonly writing: number,
    private readonly reading: number,
  ) {}

  /** @param thread owned by the file. */
  static async create(thread: FileThread, folder: string): Promise<CachedFile> {
    await thread.call('makeFolder', folder);
    const path = join(folder, `weir-feed-${randomUUID()}`);
    const writing = await thread.call('create', path);
    const reading = await thread.call('open', path);
    await thread.call('remove', path);
    return new CachedFile(thread, writing, reading);
  }

  /** @throws CacheFolderError when the disk does not give back what was written. */
  async *read(start: number, end: number): AsyncGenerator<Uint8Array> {
    for (let at = start; at < end;) {
      const index = Math.floor(at / CHUNK_BYTES);
      const begin = index * CHUNK_BYTES;
      const part = (await this.readChunk(index)).subarray(at - begin, end - begin);
      if (part.length === 0) throw new CacheFolderError(`a file of ${this.sizeBytes} bytes ends`);
      yield part;
      at += part.length;
    }
  }

  /** Keeps it open until `release`. @returns false: it is closed already. */
  hold(): boolean {
    if (this.isLost) return false;
    this.holders++;
    return true;
  }

  release(): void {
    this.holders--;
    if (this.isRetired) this.retire();
  }

  retire(): void {
    this.isRetired = true;
    if (this.holders === 0) void this.close();
  }

  async close(): Promise<void> {
    this.isLost = true;
    await this.thread.close();
  }

  async append(chunk: Uint8Array<ArrayBuffer>): Promise<void> {
    this.checksums.push(crc32(chunk));
    this.sizeBytes += chunk.length;
    await this.thread.call('write', this.writing, chunk);
  }

  private async readChunk(index: number): Promise<Uint8Array> {
    const reading = this.thread.call('readAt', this.reading, index * CHUNK_BYTES, CHUNK_BYTES);
    try {
      const chunk = await orCacheFolderError(reading);
      if (crc32(chunk) !== this.checksums[index]) throw new CacheFolderError('the file is damaged');
      return chunk;
    } catch (error) {
      this.isLost = true;
      throw error;
    }
  }
}

async function orCacheFolderError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new CacheFolderError(String(error), { cause: error });
  }
}

/** The same bytes in chunks of `CHUNK_BYTES`, the last one shorter. */
async function* inChunks(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let chunk = new Uint8Array(CHUNK_BYTES);
  let filled = 0;
  for await (const piece of bytes) {
    for (let at = 0; at < piece.length;) {
      const part = piece.subarray(at, at + CHUNK_BYTES - filled);
      chunk.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < CHUNK_BYTES) continue;
      yield chunk;
      chunk = new Uint8Array(CHUNK_BYTES);
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.slice(0, filled);
}

export function compressed(source: AsyncIterable<string | Uint8Array>): AsyncIterable<Uint8Array> {
  const compress = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });
  // An error of the source ends the reader of what is compressed.
  pipeline(Readable.from(source, { objectMode: true }), compress, () => undefined);
  return compress;
}
