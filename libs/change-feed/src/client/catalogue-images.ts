import type { ActiveCatalogue } from '@weir/config-model';
import { join } from 'node:path';
import type { FileThread } from '../files/file-thread.js';
import { FileWriter } from '../files/file-writer.js';
import { readChunks } from '../files/read-chunks.js';
import { type FeedClient, FeedError } from './feed-client.js';
import { type Allocate, type ImageIdentity, PartialImage } from './partial-image.js';
import type { FeedLogger } from '../runtime/feed-logger.js';

/** The image in force, and those before it: a start goes on with one of them while the newest is missing. */
const KEPT_IMAGES = 3;
const FILE_PREFIX = 'catalogue-';
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

/** An image that was on the disk. */
export interface RestoredImage {
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

interface KeptImage {
  readonly name: string;
  readonly writtenMs: number;
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
   * @param signal gives the download up. @throws FeedError when it is not on disk and cannot be downloaded.
   */
  async load(announced: ActiveCatalogue, signal?: AbortSignal): Promise<Uint8Array> {
    const { kept } = this;
    if (kept === undefined) return this.download(announced, signal);
    const onDisk = await this.read(kept, announced);
    const image = onDisk ?? (await this.download(announced, signal));
    clearTimeout(this.retry);
    kept.lacksImage = false;
    if (onDisk === null) await this.keep(kept, announced, image);
    return image;
  }

  /**
   * This image from the disk, or else the newest one there that is not damaged, to go on with until this one can be
   * downloaded. Null: the disk has none.
   */
  async restore(announced: ActiveCatalogue): Promise<RestoredImage | null> {
    const { kept } = this;
    if (kept === undefined) return null;
    const bytes = await this.read(kept, announced);
    if (bytes !== null) return { sha256: announced.sha256, bytes };
    for (const { name } of await this.keptImages(kept)) {
      const sha256 = name.slice(FILE_PREFIX.length);
      const older = await this.readOfUnknownSize(kept, sha256);
      if (older !== null) return { sha256, bytes: older };
    }
    return null;
  }

  /** Newest first. Empty when the disk fails. */
  private async keptImages({ folder, files }: ImageFolder): Promise<readonly KeptImage[]> {
    try {
      return await listImages(folder, files);
    } catch (error) {
      if (!isMissing(error)) this.reportUnreadable(error);
      return [];
    }
  }

  private async readOfUnknownSize(kept: ImageFolder, sha256: string): Promise<Uint8Array | null> {
    try {
      const sizeBytes = await kept.files.call('sizeBytes', pathOf(kept.folder, { sha256 }));
      return await this.read(kept, { sha256, sizeBytes });
    } catch (error) {
      this.reportUnreadable(error);
      return null;
    }
  }

  private async download(announced: ActiveCatalogue, signal?: AbortSignal): Promise<Uint8Array> {
    const { sha256, sizeBytes } = announced;
    const partial =
      this.unfinished?.sha256 === sha256
        ? this.unfinished
        : new PartialImage(announced, this.allocate);
    this.unfinished = partial;
    if (partial.lengthBytes < sizeBytes) {
      for await (const chunk of this.feed.catalogueImage(sha256, partial.lengthBytes, signal)) {
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
    announced: ImageIdentity,
  ): Promise<Uint8Array | null> {
    try {
      const chunks = readChunks(files, pathOf(folder, announced));
      let partial: PartialImage | null = null;
      for await (const chunk of chunks) {
        // Not before there is a file: an image may be large.
        partial ??= new PartialImage(announced, this.allocate);
        if (!partial.add(chunk)) break;
      }
      return partial?.finish() ?? null;
    } catch (error) {
      if (!isMissing(error)) this.reportUnreadable(error);
      return null;
    }
  }

  private reportUnreadable(error: unknown): void {
    this.log.warn({ reason: String(error) }, 'a catalogue image on disk cannot be read');
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

function pathOf(folder: string, { sha256 }: Pick<ImageIdentity, 'sha256'>): string {
  return join(folder, `${FILE_PREFIX}${sha256}`);
}

/** Newest first. */
async function listImages(folder: string, files: FileThread): Promise<readonly KeptImage[]> {
  const names = await files.call('list', folder);
  const images = await Promise.all(
    names
      .filter((name) => IMAGE_FILE.test(name))
      .map(async (name) => ({
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

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
