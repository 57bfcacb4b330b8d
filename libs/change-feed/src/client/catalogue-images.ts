import type { ActiveCatalogue } from '@weir/config-model';
import type { FeedLogger } from '../runtime/runtime.js';
import type { FeedClient } from './feed-client.js';
import { FeedError } from './feed-requests.js';
import { type BuildImage, ImageDeltas, type LoadedImage } from './image-deltas.js';
import {
  readChunks,
  type ImageFolder,
  isMissing,
  listImages,
  pathOf,
  writeImage,
  type Allocate,
  type ImageIdentity,
  PartialImage,
} from './image-files.js';

/** Interval between attempts to keep an image. */
const RETRY_MS = 10_000;

export interface ImageOptions {
  /** Makes the room for an image; an ordinary array unless given. */
  readonly allocate?: Allocate;
  /** Builds an image of another one and a delta. Without it, images are downloaded whole. */
  readonly buildImage?: BuildImage;
  /** Interval between attempts to keep an image. */
  readonly retryMs?: number;
}

/** Images that were not on the disk: downloaded whole, or built of a delta; and deltas that could not be used. */
export interface ImageCounters {
  readonly whole: number;
  readonly built: number;
  readonly deltaFaults: number;
}

/**
 * Catalogue images by their sha256, read from disk or else fetched from the feed API and then written to disk. The
 * next `load` of the same image resumes a download that broke off. Bytes are hashed as they arrive, so that the event
 * loop is never blocked for long.
 */
export class CatalogueImages {
  /** The bytes that arrived before a download broke off. */
  private unfinished: PartialImage | null = null;
  private whole = 0;
  private readonly deltas: ImageDeltas | null;
  private retry: NodeJS.Timeout | undefined;
  private readonly allocate: Allocate;
  private readonly retryMs: number;

  /** @param kept undefined: images are not kept. */
  constructor(
    private readonly feed: FeedClient,
    private readonly kept: ImageFolder | undefined,
    private readonly log: FeedLogger,
    options: ImageOptions = {},
  ) {
    const { allocate = (bytes) => new Uint8Array(bytes), retryMs = RETRY_MS, buildImage } = options;
    this.allocate = allocate;
    this.retryMs = retryMs;
    this.deltas = buildImage ? new ImageDeltas(feed, buildImage, allocate, log) : null;
  }

  get counters(): ImageCounters {
    const { built = 0, faults: deltaFaults = 0 } = this.deltas?.counters ?? {};
    return { whole: this.whole, built, deltaFaults };
  }

  /**
   * The bytes of the image, verified against its sha256.
   * @param signal gives the download up.
   * @param base an image that it may be built of. @throws FeedError when it is not on disk and cannot be fetched.
   */
  async load(
    announced: ActiveCatalogue,
    signal?: AbortSignal,
    base: LoadedImage | null = null,
  ): Promise<Uint8Array> {
    const { kept } = this;
    if (kept === undefined) return this.fetch(announced, signal, base);
    const onDisk = await this.read(kept, announced);
    const image = onDisk ?? (await this.fetch(announced, signal, base));
    clearTimeout(this.retry);
    kept.lacksImage = false;
    if (onDisk === null) await this.keep(kept, announced, image);
    return image;
  }

  /**
   * This image from the disk, or else the newest one there that is not damaged, to go on with until this one can be
   * downloaded. Null: the disk has none.
   */
  async restore(announced: ActiveCatalogue): Promise<LoadedImage | null> {
    const { kept } = this;
    if (kept === undefined) return null;
    const bytes = await this.read(kept, announced);
    if (bytes !== null) return { sha256: announced.sha256, bytes };
    for (const older of await this.keptImages(kept)) {
      const read = await this.read(kept, older);
      if (read !== null) return { sha256: older.sha256, bytes: read };
    }
    return null;
  }

  /** Newest first. Empty when the disk fails. */
  private async keptImages(kept: ImageFolder): Promise<readonly ImageIdentity[]> {
    try {
      return await listImages(kept);
    } catch (error) {
      if (!isMissing(error)) this.reportUnreadable(error);
      return [];
    }
  }

  private async fetch(
    announced: ActiveCatalogue,
    signal: AbortSignal | undefined,
    base: LoadedImage | null,
  ): Promise<Uint8Array> {
    const built = base && this.deltas && (await this.deltas.build(base, announced, signal));
    return built ?? this.download(announced, signal);
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
    this.whole++;
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
