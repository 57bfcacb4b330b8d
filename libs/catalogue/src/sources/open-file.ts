import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { CatalogueError } from '../catalogue-error.js';
import type { ByteStream } from '../lists/list-limits.js';
import { bounded } from '../lists/list-limits.js';
import type { OpenedSource, OpenOptions } from './open-source.js';

const CHUNK_BYTES = 256 * 1024;

export async function openFile(path: string, options: OpenOptions): Promise<OpenedSource> {
  const file = await stat(path, { bigint: true }).catch((cause: unknown) => {
    throw cannotBeRead(cause);
  });
  if (!file.isFile()) throw new CatalogueError('is not a file');
  const etag = `"${file.size}-${file.mtimeNs}"`;
  if (options.etag === etag) return { status: 'unchanged' };
  const body = bounded(read(path, options.signal), options.maxBytes);
  return { status: 'opened', body, etag, lastModified: null };
}

async function* read(path: string, signal: AbortSignal | undefined): ByteStream {
  try {
    yield* createReadStream(path, { highWaterMark: CHUNK_BYTES, signal }) as ByteStream;
  } catch (cause) {
    throw cannotBeRead(cause);
  }
}

function cannotBeRead(cause: unknown): CatalogueError {
  const { code, message } = cause as NodeJS.ErrnoException;
  return new CatalogueError(`cannot be read: ${code ?? message}`, { cause });
}
