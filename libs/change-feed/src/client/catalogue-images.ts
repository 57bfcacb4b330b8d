import type { ActiveCatalogue } from '@weir/config-model';
import { mostDeltaBytes } from '../protocol/protocol.js';
import type { FeedLogger } from '../runtime/runtime.js';
import type { FeedClient } from './feed-client.js';
import { decompressed, FeedError, StatusError } from './feed-requests.js';
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
/** After so many attempts that the feed API did not answer well, an image is downloaded whole. */
const MOST_ATTEMPTS = 5;
const NOT_FOUND = 404;

export interface LoadedImage {
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

/** Builds an image of another one and a delta, in room of its size. What it returns is not verified. */
type BuildImage = (
  base: Uint8Array,
  delta: AsyncIterable<Uint8Array>,
  room: Uint8Array,
  signal?: AbortSignal,
) => Promise<{ readonly image: Uint8Array; readonly sha256: string }>;

export interface ImageOptions {
  /** Makes the room for an image; an ordinary array unless given. */
  readonly allocate?: Allocate;
  /** Builds an image of another one and a delta. Without it, images are downloaded whole. */
  readonly buildImage?: BuildImage;
  readonly retryMs?: number;
}

/** Images that were not on the disk: downloaded whole, or built of a delta; and deltas that could not be used. */
export interface ImageCounters {
  whole: number;
  built: number;
  deltaFaults: number;
}

/**
 * Catalogue images by their sha256, read from disk or else fetched from the feed API and then written to disk. The
 * next `load` of the same image resumes a download that broke off. Bytes are hashed as they arrive, so that the event
 * loop is never blocked for long.
 */
export class CatalogueImages {
  /** The bytes that arrived before a download broke off. */
  private unfinished: PartialImage | null = null;
  readonly counters: ImageCounters = { whole: 0, built: 0, deltaFaults: 0 };
  /** SHA-256 of the image that is being built of a delta, and the attempts so far. */
  private building = '';
  private attempts = 0;
  private retry: NodeJS.Timeout | undefined;
  /** Another attempt to keep an image. */
  private retrying: Promise<void> = Promise.resolve();
  private readonly allocate: Allocate;

  /** @param kept undefined: images are not kept. */
  constructor(
    private readonly feed: FeedClient,
    private readonly kept: ImageFolder | undefined,
    private readonly log: FeedLogger,
    private readonly options: ImageOptions = {},
  ) {
    this.allocate = options.allocate ?? ((bytes) => new Uint8Array(bytes));
  }

  /** The image, verified. @param base it may be built of this one. @throws FeedError when it cannot be fetched. */
  async load(
    announced: ActiveCatalogue,
    signal?: AbortSignal,
    base: LoadedImage | null = null,
  ): Promise<Uint8Array> {
    const { kept } = this;
    if (kept === undefined) return this.fetch(announced, signal, base);
    const onDisk = await this.orNull(this.read(kept, announced));
    const image = onDisk ?? (await this.fetch(announced, signal, base));
    // That attempt would remove the files of this image while they are written, and keep the older image again.
    await this.retrying;
    clearTimeout(this.retry);
    kept.lacksImage = false;
    if (onDisk === null) await this.keep(kept, announced, image);
    return image;
  }

  /** This image from the disk, or else the newest one there that is not damaged, to go on with. Null: there is none. */
  async restore(announced: ActiveCatalogue): Promise<LoadedImage | null> {
    const { kept } = this;
    if (kept === undefined) return null;
    const bytes = await this.orNull(this.read(kept, announced));
    if (bytes !== null) return { sha256: announced.sha256, bytes };
    for (const older of (await this.orNull(listImages(kept))) ?? []) {
      if (older.sha256 === announced.sha256) continue;
      const read = await this.orNull(this.read(kept, older));
      if (read !== null) return { sha256: older.sha256, bytes: read };
    }
    return null;
  }

  /** Null when there is no such file, or the disk fails or hangs. The image is downloaded then. */
  private async orNull<T>(reading: Promise<T>): Promise<T | null> {
    try {
      return await reading;
    } catch (error) {
      const reason = String(error);
      if (!isMissing(error)) this.log.warn({ reason }, 'a catalogue image on disk cannot be read');
      return null;
    }
  }

  private async fetch(
    announced: ActiveCatalogue,
    signal: AbortSignal | undefined,
    base: LoadedImage | null,
  ): Promise<Uint8Array> {
    const { buildImage } = this.options;
    const built = base && buildImage && (await this.tryBuild(buildImage, base, announced, signal));
    return built ?? this.download(announced, signal);
  }

  /**
   * Builds an image of a delta. Null: it has to be downloaded whole.
   * @throws FeedError when the feed API is busy or cannot be reached: it is worth another attempt; the reason of
   *   `signal`.
   */
  private async tryBuild(
    buildImage: BuildImage,
    base: LoadedImage,
    wanted: ActiveCatalogue,
    signal?: AbortSignal,
  ): Promise<Uint8Array | null> {
    const { version, sha256, sizeBytes } = wanted;
    if (this.building !== sha256) this.attempts = 0;
    this.building = sha256;
    if (this.attempts >= MOST_ATTEMPTS) return null;
    this.attempts++;
    try {
      const compressed = await this.feed.imageDelta(base.sha256, sha256, signal);
      const delta = limited(compressed, mostDeltaBytes(base.bytes.length));
      // Not before there is a delta: an image may be large.
      const room = this.allocate(sizeBytes);
      const built = await buildImage(base.bytes, delta, room, signal);
      if (built.sha256 !== sha256)
        throw new Error('the image that it makes is not the announced one');
      this.counters.built++;
      return built.image;
    } catch (error) {
      signal?.throwIfAborted();
      const isLast = this.attempts >= MOST_ATTEMPTS;
      if (error instanceof FeedError && !error.isRefusal && !isLast) throw error;
      this.attempts = MOST_ATTEMPTS;
      // There is no delta: that is no fault.
      if (error instanceof StatusError && error.status === NOT_FOUND) return null;
      this.counters.deltaFaults++;
      const fields = { version, reason: String(error) };
      this.log.warn(fields, 'cannot build the catalogue image of a delta; it is downloaded whole');
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
    this.counters.whole++;
    return image;
  }

  /** Null when the file is damaged. */
  private async read(
    { folder, files }: ImageFolder,
    announced: ImageIdentity,
  ): Promise<Uint8Array | null> {
    let partial: PartialImage | null = null;
    for await (const chunk of readChunks(files, pathOf(folder, announced))) {
      // Not before there is a file: an image may be large.
      partial ??= new PartialImage(announced, this.allocate);
      if (!partial.add(chunk)) break;
    }
    return partial?.finish() ?? null;
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
      const { retryMs = RETRY_MS } = this.options;
      this.retry = setTimeout(() => {
        this.retrying = this.keep(kept, announced, image);
      }, retryMs).unref();
    }
  }
}

async function* limited(
  compressed: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let left = maxBytes;
  const damaged = (cause: unknown): Error =>
    new Error('the compressed bytes of the delta are damaged', { cause });
  for await (const piece of decompressed(compressed, damaged)) {
    left -= piece.length;
    if (left < 0) throw new Error(`the delta has more than ${maxBytes} bytes`);
    yield piece;
  }
}
