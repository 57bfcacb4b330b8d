import type { ActiveCatalogue } from '@weir/config-model';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FeedClient } from './feed-client.js';
import type { FeedLogger } from './redis.js';

/** The one in force, and those that the snapshot on disk or its journal may still begin with. */
const KEPT_IMAGES = 3;
const IMAGE_FILE = /^catalogue-[0-9a-f]{64}$/;

/** Catalogue images by their sha256: from disk where they are, else from the feed, and then kept on disk. */
export class CatalogueImages {
  /** @param folder where to keep them; undefined: nowhere. */
  constructor(
    private readonly feed: FeedClient,
    private readonly folder: string | undefined,
    private readonly log: FeedLogger,
  ) {}

  /** The bytes of the image, which have its sha256. @throws FeedError when it is not on disk and cannot be fetched. */
  async load({ sha256, sizeBytes }: ActiveCatalogue): Promise<Uint8Array> {
    const path = this.folder === undefined ? null : join(this.folder, `catalogue-${sha256}`);
    const kept = path === null ? null : await readImage(path, sha256);
    if (kept !== null) return kept;
    const image = await this.feed.catalogueImage(sha256, sizeBytes);
    if (path !== null) await this.keep(path, image);
    return image;
  }

  private async keep(path: string, image: Uint8Array): Promise<void> {
    try {
      await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
      await writeFile(`${path}.new`, image, { mode: 0o600, flush: true });
      await rename(`${path}.new`, path);
      await this.removeOldest();
    } catch (error) {
      this.log.error({ reason: String(error) }, 'the catalogue image cannot be kept on disk');
    }
  }

  private async removeOldest(): Promise<void> {
    const folder = this.folder ?? '';
    const names = (await readdir(folder)).filter((name) => IMAGE_FILE.test(name));
    const images = await Promise.all(
      names.map(async (name) => ({
        path: join(folder, name),
        writtenMs: (await stat(join(folder, name))).mtimeMs,
      })),
    );
    images.sort((a, b) => b.writtenMs - a.writtenMs);
    await Promise.all(images.slice(KEPT_IMAGES).map(({ path }) => rm(path, { force: true })));
  }
}

/** Null when the file is not there or is not the image any more: then it is fetched anew. */
async function readImage(path: string, sha256: string): Promise<Uint8Array | null> {
  const image = await readFile(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  });
  if (image === null || createHash('sha256').update(image).digest('hex') !== sha256) return null;
  return image;
}
