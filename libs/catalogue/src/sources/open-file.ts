import { createHash } from 'node:crypto';
import { type BigIntStats, createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { CatalogueError } from '../catalogue-error.js';
import { resolveDlc } from '../lists/formats/dlc.js';
import { bounded, type ByteStream } from '../lists/list.js';
import type { OpenedSource, OpenOptions } from './source.js';

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = Uint8Array.of(0x0a);
/** The name of the file of a list in UT1 archives and folders. */
const UT1_FILE = 'domains';
/** The folder of the lists of domain-list-community. */
const DLC_FOLDER = 'data';

interface File {
  readonly path: string;
  readonly stats: BigIntStats;
}

export async function openFile(path: string, options: OpenOptions): Promise<OpenedSource> {
  const file = await statFile(path);
  if (!file.stats.isFile()) throw new CatalogueError('is not a file');
  return openFiles([file], options);
}

/** Opens a UT1 folder, which has a file `domains` or files `<name>/domains`, as one text; or opens a file. */
export async function openUt1(path: string, options: OpenOptions): Promise<OpenedSource> {
  const { stats } = await statFile(path);
  if (!stats.isDirectory()) return openFile(path, options);
  const folders = ['.', ...(await readdir(path).catch(fail)).sort()];
  const found = await Promise.all(
    folders.map((folder) => statFile(join(path, folder, UT1_FILE)).catch(nullIfMissing)),
  );
  const files = found.filter((file) => file?.stats.isFile() === true) as File[];
  if (files.length === 0) throw new CatalogueError(`is a folder without a file ${UT1_FILE}`);
  return openFiles(files, options);
}

/** Opens a folder of format dlc, with its lists in it or in its `data`, as the rules of one list; or opens a file. */
export async function openDlc(
  path: string,
  list: string,
  options: OpenOptions,
): Promise<OpenedSource> {
  const { stats } = await statFile(path);
  if (!stats.isDirectory()) return openFile(path, options);
  const inner = join(path, DLC_FOLDER);
  const folder = (await statFile(inner).catch(nullIfMissing)) === null ? path : inner;
  const paths = (await readdir(folder).catch(fail)).sort().map((name) => join(folder, name));
  const files = (await Promise.all(paths.map(statFile))).filter((file) => file.stats.isFile());
  const opened = openFiles(files, options);
  if (opened.status === 'unchanged') return opened;
  return { ...opened, body: rulesIn(files, list, options) };
}

/** Reads the files when it is iterated: who only asks whether they have changed does not wait for it. */
async function* rulesIn(
  files: readonly File[],
  list: string,
  { signal, maxBytes }: OpenOptions,
): ByteStream {
  const texts = new Map<string, string>();
  for (const file of files) {
    const chunks = await Array.fromAsync(bounded(readAll([file], signal), maxBytes));
    texts.set(basename(file.path).toLowerCase(), Buffer.concat(chunks).toString());
  }
  yield Buffer.from(resolveDlc(texts, list));
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

async function statFile(path: string): Promise<File> {
  return { path, stats: await stat(path, { bigint: true }).catch(fail) };
}

function nullIfMissing(error: CatalogueError): null {
  const { code } = error.cause as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return null;
  throw error;
}

function fail(cause: unknown): never {
  const { code, message } = cause as NodeJS.ErrnoException;
  throw new CatalogueError(`cannot be read: ${code ?? message}`, { cause });
}
