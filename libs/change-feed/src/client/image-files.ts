import type { ActiveCatalogue } from '@weir/config-model';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { ListedFile } from '../files/file-calls.js';
import type { FileThread } from '../files/file-thread.js';

/** Written bytes are flushed so often that no flush takes long: a slow disk can be told from one that hangs. */
const FLUSH_BYTES = 8 * 1024 * 1024;

const CHUNK_BYTES = 1024 * 1024;

/** The bytes of a file. The next ones are read while the caller uses those before. */
export async function* readChunks(thread: FileThread, path: string): AsyncGenerator<Uint8Array> {
  const file = await thread.call('open', path);
  const read = (): Promise<Uint8Array> => {
    const chunk = thread.call('read', file, CHUNK_BYTES);
    // The caller may end before it asks for this one.
    chunk.catch(() => undefined);
    return chunk;
  };
  try {
    for (let chunk = await read(); chunk.length > 0;) {
      const next = read();
      yield chunk;
      chunk = await next;
    }
  } finally {
    // A thread that cannot do that has ended, or will end, and closes the file then.
    await thread.call('close', file).catch(() => undefined);
  }
}

export type ImageIdentity = Pick<ActiveCatalogue, 'sha256' | 'sizeBytes'>;

export type Allocate = (bytes: number) => Uint8Array;

/** The part of a catalogue image that has arrived. */
export class PartialImage {
  readonly sha256: string;
  lengthBytes = 0;
  private readonly image: Uint8Array;
  private readonly hash = createHash('sha256');
  private isTooLong = false;

  constructor({ sha256, sizeBytes }: ImageIdentity, allocate: Allocate) {
    this.sha256 = sha256;
    this.image = allocate(sizeBytes);
  }

  /** Whether bytes are still missing. False when there are too many. */
  get isShort(): boolean {
    return !this.isTooLong && this.lengthBytes < this.image.length;
  }

  /** Adds the next bytes. @returns false when there are too many, so that this cannot be the announced image. */
  add(chunk: Uint8Array): boolean {
    this.isTooLong ||= chunk.length > this.image.length - this.lengthBytes;
    if (this.isTooLong) return false;
    this.image.set(chunk, this.lengthBytes);
    this.hash.update(chunk);
    this.lengthBytes += chunk.length;
    return true;
  }

  /** The image; null when it is incomplete or its hash is wrong. Call it once. */
  finish(): Uint8Array | null {
    const isWhole = !this.isShort && !this.isTooLong;
    return isWhole && this.hash.digest('hex') === this.sha256 ? this.image : null;
  }
}

/** The image in force, and those before it: a start goes on with one of them while the newest is missing. */
const KEPT_IMAGES = 3;
const FILE_PREFIX = 'catalogue-';
const IMAGE_FILE = /^catalogue-[0-9a-f]{64}$/;
/** Left behind by a process that was killed while it wrote an image. */
const UNFINISHED_FILE = /^catalogue-[0-9a-f]{64}\.new$/;

export interface ImageFolder {
  readonly folder: string;
  readonly files: FileThread;
  /** Whether the newest image could not be kept. A configuration that names it cannot be started from. */
  lacksImage: boolean;
}

/** Writes an image, and removes those that are not kept any longer. */
export async function writeImage(
  kept: ImageFolder,
  announced: ImageIdentity,
  image: Uint8Array,
): Promise<void> {
  const { folder, files } = kept;
  const path = pathOf(folder, announced);
  const unfinished = `${path}.new`;
  await files.call('makeFolder', folder);
  const file = await files.call('create', unfinished);
  try {
    for (let start = 0; start < image.length; start += CHUNK_BYTES) {
      await files.call('write', file, image.slice(start, start + CHUNK_BYTES));
      if (start % FLUSH_BYTES === 0) await files.call('flush', file);
    }
    await files.call('flush', file);
  } catch (error) {
    // It would take the room of the configuration.
    await files.call('remove', unfinished).catch(() => undefined);
    throw error;
  } finally {
    // A thread that has ended has closed the file.
    await files.call('close', file).catch(() => undefined);
  }
  await files.call('rename', unfinished, path);
  await removeOthers(kept);
}

export function pathOf(folder: string, { sha256 }: ImageIdentity): string {
  return join(folder, `${FILE_PREFIX}${sha256}`);
}

export async function listImages({ folder, files }: ImageFolder): Promise<ImageIdentity[]> {
  const images = newestFirst(await files.call('list', folder));
  return images.map(({ name, sizeBytes }) => ({
    sha256: name.slice(FILE_PREFIX.length),
    sizeBytes,
  }));
}

function newestFirst(all: readonly ListedFile[]): ListedFile[] {
  const images = all.filter(({ name }) => IMAGE_FILE.test(name));
  return images.sort((a, b) => b.writtenMs - a.writtenMs);
}

async function removeOthers({ folder, files }: ImageFolder): Promise<void> {
  const all = await files.call('list', folder);
  const unfinished = all.filter(({ name }) => UNFINISHED_FILE.test(name));
  for (const { name } of [...newestFirst(all).slice(KEPT_IMAGES), ...unfinished]) {
    await files.call('remove', join(folder, name));
  }
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
