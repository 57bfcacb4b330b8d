import type { ActiveCatalogue } from '@weir/config-model';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FeedClient, FeedError } from './feed-client.js';
import { type Allocate, PartialImage } from './partial-image.js';
import type { FeedLogger } from '../runtime/feed-logger.js';

/** The image in force, and the images that the snapshot or the journal on disk may still refer to. */
const KEPT_IMAGES = 3;
const IMAGE_FILE = /^catalogue-[0-9a-f]{64}$/;
/** Left behind by a process that was killed while it wrote an image. */
const UNFINISHED_FILE = /^catalogue-[0-9a-f]{64}\.new$/;
const CHUNK_BYTES = 1024 * 1024;

/**
 * Catalogue images by their sha256, read from disk or else downloaded from the feed API and then written to disk. The
 * next `load` of the same image resumes a download that broke off. Bytes are hashed as they arrive, so that the event
 * loop is never blocked for long.
 */
export class CatalogueImages {
  /** The bytes that arrived before a download broke off. */
  private unfinished: PartialImage | null = null;

  /**
   * @param folder where images are kept; undefined: they are not kept.
   * @param allocate makes the room for an image.
   */
  constructor(
    private readonly feed: FeedClient,
    private readonly folder: string | undefined,
    private readonly log: FeedLogger,
    private readonly allocate: Allocate = (bytes) => new Uint8Array(bytes),
  ) {}

  /**
   * The bytes of the image, verified against its sha256.
   * @throws FeedError when it is not on disk and cannot be downloaded.
   */
  async load(announced: ActiveCatalogue): Promise<Uint8Array> {
    const { sha256 } = announced;
    const path = this.folder === undefined ? null : join(this.folder, `catalogue-${sha256}`);
    const onDisk = path === null ? null : await this.read(path, announced);
    if (onDisk !== null) return onDisk;
    const image = await this.download(announced);
    if (path !== null) await this.keep(path, image);
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

  /** Null when the file is missing or damaged. The image is downloaded again then. */
  private async read(path: string, announced: ActiveCatalogue): Promise<Uint8Array | null> {
    const partial = new PartialImage(announced, this.allocate);
    try {
      for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
        if (!partial.add(chunk as Buffer)) break;
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        this.log.warn({ reason: String(error) }, 'a catalogue image on disk cannot be read');
      }
      return null;
    }
    return partial.finish();
  }

  private async keep(path: string, image: Uint8Array): Promise<void> {
    try {
      await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
      await writeFile(`${path}.new`, image, { mode: 0o600, flush: true });
      await rename(`${path}.new`, path);
      await this.removeOthers();
    } catch (error) {
      this.log.error({ reason: String(error) }, 'the catalogue image cannot be kept on disk');
    }
  }

  private async removeOthers(): Promise<void> {
    const folder = this.folder ?? '';
    const names = await readdir(folder);
    const images = await Promise.all(
      names
        .filter((name) => IMAGE_FILE.test(name))
        .map(async (name) => ({ name, writtenMs: (await stat(join(folder, name))).mtimeMs })),
    );
    images.sort((a, b) => b.writtenMs - a.writtenMs);
    const others = [
      ...images.slice(KEPT_IMAGES).map(({ name }) => name),
      ...names.filter((name) => UNFINISHED_FILE.test(name)),
    ];
    await Promise.all(others.map((name) => rm(join(folder, name), { force: true })));
  }
}
