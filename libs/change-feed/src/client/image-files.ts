import { join } from 'node:path';
import type { FileThread } from '../files/file-thread.js';
import { FileWriter } from '../files/file-writer.js';
import type { ImageIdentity } from './partial-image.js';

/** The image in force, and those before it: a start goes on with one of them while the newest is missing. */
const KEPT_IMAGES = 3;
const FILE_PREFIX = 'catalogue-';
const IMAGE_FILE = /^catalogue-[0-9a-f]{64}$/;
/** Left behind by a process that was killed while it wrote an image. */
const UNFINISHED_FILE = /^catalogue-[0-9a-f]{64}\.new$/;
const CHUNK_BYTES = 1024 * 1024;

/** Where images are kept. */
export interface ImageFolder {
  readonly folder: string;
  readonly files: FileThread;
  /** Whether the newest image could not be kept. A configuration that names it cannot be started from. */
  lacksImage: boolean;
}

/** A file with an image. */
export interface KeptImage {
  readonly sha256: string;
  readonly name: string;
  readonly writtenMs: number;
}

/** Writes an image, and removes those that are not kept any longer. */
export async function writeImage(
  { folder, files }: ImageFolder,
  announced: ImageIdentity,
  image: Uint8Array,
): Promise<void> {
  const path = pathOf(folder, announced);
  await files.call('makeFolder', folder);
  const writer = await FileWriter.create(files, `${path}.new`);
  for (let start = 0; start < image.length; start += CHUNK_BYTES) {
    await writer.write(image.slice(start, start + CHUNK_BYTES));
  }
  await writer.finish();
  await files.call('rename', `${path}.new`, path);
  await removeOthers(folder, files);
}

export function pathOf(folder: string, { sha256 }: Pick<ImageIdentity, 'sha256'>): string {
  return join(folder, `${FILE_PREFIX}${sha256}`);
}

/** Newest first. */
export async function listImages(folder: string, files: FileThread): Promise<readonly KeptImage[]> {
  const names = await files.call('list', folder);
  const images = await Promise.all(
    names
      .filter((name) => IMAGE_FILE.test(name))
      .map(async (name) => ({
        sha256: name.slice(FILE_PREFIX.length),
        name,
        writtenMs: await files.call('writtenMs', join(folder, name)),
      })),
  );
  return images.sort((a, b) => b.writtenMs - a.writtenMs);
}

async function removeOthers(folder: string, files: FileThread): Promise<void> {
  const names = await files.call('list', folder);
  const images = await listImages(folder, files);
  const others = [
    ...images.slice(KEPT_IMAGES).map(({ name }) => name),
    ...names.filter((name) => UNFINISHED_FILE.test(name)),
  ];
  await Promise.all(others.map((name) => files.call('remove', join(folder, name))));
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
