import type { ActiveCatalogue } from '@weir/config-model';
import { join } from 'node:path';
import type { FileThread } from '../files/file-thread.js';
import { FileWriter } from '../files/file-writer.js';
import { readChunks } from '../files/read-chunks.js';
import { type FeedClient, FeedError } from './feed-client.js';
import { type Allocate, PartialImage } from './partial-image.js';
import type { FeedLogger } from '../runtime/feed-logger.js';

/** The image in force, and the images that the snapshot or the journal on disk may still refer to. */
const KEPT_IMAGES = 3;
const IMAGE_FILE = /^catalogue-[0-9a-f]{64}$/;
/** Left behind by a process that was killed while it wrote an image. */
const UNFINISHED_FILE = /^catalogue-[0-9a-f]{64}\.new$/;
const CHUNK_BYTES = 1024 * 1024;
/** Interval between attempts to keep an image. */
const RETRY_MS = 10_000;

/** Where images are kept. */
export interface ImageFolder {
  readonly folder: string;
  readonly files: FileThread;
  /** Whether the newest image could not be kept. A configuration that names it cannot be started from. */
  lacksImage: boolean;
}

export interface ImageOptions {
  /** Makes the room for an image; an ordinary array unless given. */
  readonly allocate?: Allocate;
  /** Interval between attempts to keep an image. */
  readonly retryMs?: number;
}

/**
 * Catalogue images by their sha256, read from disk or else downloaded from the feed API and then written to disk. The
 * next `load` of the same image resumes a download that broke off. Bytes are hashed as they arrive, so that the event
 * loop is never blocked for long.
 */
export class CatalogueImages {
  /** The bytes that arrived before a download broke off. */
  private unfinished: PartialImage | null = null;
  private retry: NodeJS.Timeout | undefined;
  private readonly allocate: Allocate;
  private readonly retryMs: number;

  /** @param kept undefined: images are not kept. */
  constructor(
    private readonly feed: FeedClient,
    private readonly kept: ImageFolder | undefined,
    private readonly log: FeedLogger,
    { allocate = (bytes) => new Uint8Array(bytes), retryMs = RETRY_MS }: ImageOptions = {},
  ) {
    this.allocate = allocate;
    this.retryMs = retryMs;
  }

  /**
   * The bytes of the image, verified against its sha256.
   * @throws FeedError when it is not on disk and cannot be downloaded.
   */
  async load(announced: ActiveCatalogue): Promise<Uint8Array> {
    const { kept } = this;
    if (kept === undefined) return this.download(announced);
    const onDisk = await this.read(kept, announced);
    const image = onDisk ?? (await this.download(announced));
    clearTimeout(this.retry);
    kept.lacksImage = false;
    if (onDisk === null) await this.keep(kept, announced, image);
    return image;
  }

  private async download(announced: ActiveCatalogue): Promise<Uint8Array> {
    const { sha256, sizeBytes } = announced;
    const partial =
      this.unfinished?.sha256 === sha256
        ? this.unfinished
        : new PartialImage(announced, this.allocate);
    this.unfinished = partial;
    if (partial.lengthBytes < sizeBytes) {
      for await (const chunk of this.feed.catalogueImage(sha256, partial.lengthBytes)) {
        if (!partial.add(chunk)) break;
      }
      if (partial.isShort) throw new FeedError('the catalogue image broke off');
    }
    this.unfinished = null;
    const image = partial.finish();
    if (image === null) throw new FeedError('the catalogue image is not the announced one');
    return image;
  }

  /** Null when the file is missing or damaged, or the disk hangs. The image is downloaded then. */
  private async read(
    { folder, files }: ImageFolder,
    announced: ActiveCatalogue,
  ): Promise<Uint8Array | null> {
    const partial = new PartialImage(announced, this.allocate);
    try {
      for await (const chunk of readChunks(files, pathOf(folder, announced))) {
        if (!partial.add(chunk)) break;
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        this.log.warn({ reason: String(error) }, 'a catalogue image on disk cannot be read');
      }
      return null;
    }
    return partial.finish();
  }

  /** Until that succeeds, or another image is loaded, it is tried again: the image is in memory anyway. */
  private async keep(
    kept: ImageFolder,
    announced: ActiveCatalogue,
    image: Uint8Array,
  ): Promise<void> {
    try {
      if (kept.files.isHanging) throw new Error('the disk does not answer');
      await writeImage(kept, announced, image);
      kept.lacksImage = false;
    } catch (error) {
      if (kept.files.isClosed) return;
      const reason = String(error);
      if (!kept.lacksImage)
        this.log.error({ reason }, 'the catalogue image cannot be kept on disk');
      kept.lacksImage = true;
      this.retry = setTimeout(() => void this.keep(kept, announced, image), this.retryMs).unref();
    }
  }
}

async function writeImage(
  { folder, files }: ImageFolder,
  announced: ActiveCatalogue,
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

function pathOf(folder: string, { sha256 }: ActiveCatalogue): string {
  return join(folder, `catalogue-${sha256}`);
}

async function removeOthers(folder: string, files: FileThread): Promise<void> {
  const names = await files.call('list', folder);
  const images = await Promise.all(
    names
      .filter((name) => IMAGE_FILE.test(name))
      .map(async (name) => ({
        name,
        writtenMs: await files.call('writtenMs', join(folder, name)),
      })),
  );
  images.sort((a, b) => b.writtenMs - a.writtenMs);
  const others = [
    ...images.slice(KEPT_IMAGES).map(({ name }) => name),
    ...names.filter((name) => UNFINISHED_FILE.test(name)),
  ];
  await Promise.all(others.map((name) => files.call('remove', join(folder, name))));
}
