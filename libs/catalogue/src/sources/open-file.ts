import { createHash } from 'node:crypto';
import { type BigIntStats, createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CatalogueError } from '../catalogue-error.js';
import { bounded, type ByteStream } from '../lists/list-limits.js';
import type { OpenedSource, OpenOptions } from './source.js';

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = Uint8Array.of(0x0a);
/** What UT1 calls the file of a list. */
const UT1_FILE = 'domains';

interface File {
  readonly path: string;
  readonly stats: BigIntStats;
}

export async function openFile(path: string, options: OpenOptions): Promise<OpenedSource> {
  const file = await look(path);
  if (!file.stats.isFile()) throw new CatalogueError('is not a file');
  return openFiles([file], options);
}

/** Opens a folder as UT1 has them, `domains` or `<name>/domains` in it, as one text; or a file. */
export async function openUt1(path: string, options: OpenOptions): Promise<OpenedSource> {
  const { stats } = await look(path);
  if (!stats.isDirectory()) return openFile(path, options);
  const folders = ['.', ...(await readdir(path).catch(fail)).sort()];
  const found = await Promise.all(
    folders.map((folder) => look(join(path, folder, UT1_FILE)).catch(absent)),
  );
  const files = found.filter((file) => file?.stats.isFile() === true) as File[];
  if (files.length === 0) throw new CatalogueError(`is a folder without a file ${UT1_FILE}`);
  return openFiles(files, options);
}

function openFiles(files: readonly File[], options: OpenOptions): OpenedSource {
  const versions = files.map(({ path, stats }) => `${path} ${stats.size} ${stats.mtimeNs}`);
  const etag = `"${createHash('sha256').update(versions.join('\n')).digest('hex').slice(0, 32)}"`;
  if (options.etag === etag) return { status: 'unchanged' };
  const body = bounded(readAll(files, options.signal), options.maxBytes);
  return { status: 'opened', body, etag, lastModified: null };
}

async function* readAll(files: readonly File[], signal?: AbortSignal): ByteStream {
  for (const { path } of files) {
    try {
      yield* createReadStream(path, { highWaterMark: CHUNK_BYTES, signal }) as ByteStream;
    } catch (cause) {
      fail(cause);
    }
    if (files.length > 1) yield NEWLINE;
  }
}

async function look(path: string): Promise<File> {
  return { path, stats: await stat(path, { bigint: true }).catch(fail) };
}

function absent(error: CatalogueError): null {
  const { code } = error.cause as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return null;
  throw error;
}

function fail(cause: unknown): never {
  const { code, message } = cause as NodeJS.ErrnoException;
  throw new CatalogueError(`cannot be read: ${code ?? message}`, { cause });
}
