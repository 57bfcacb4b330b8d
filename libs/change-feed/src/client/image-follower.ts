import type { ActiveCatalogue } from '@weir/config-model';
import type { FeedLogger } from '../runtime/feed-logger.js';
import { retryDelayMs } from '../runtime/retry-delay.js';
import type { CatalogueImages, ImageCounters } from './catalogue-images.js';
import { FeedError } from './feed-requests.js';
import type { LoadedImage } from './image-deltas.js';
import { type ImageEffect, type ImageEvent, ImageMachine } from './image-machine.js';

/** Longest pause before another attempt to fetch an image. */
const LAST_PAUSE_MS = 60_000;

export interface ImageFollowerOptions {
  readonly images: Pick<CatalogueImages, 'load' | 'restore' | 'counters'>;
  /** Takes a verified image into use; null: none is to be used. @throws Error when the image cannot be used. */
  readonly use: (image: Uint8Array | null) => Promise<void> | void;
  readonly log: FeedLogger;
}

/** An image that the configuration in force names and that is not in use, and since when. */
export interface MissingImage {
  readonly sha256: string;
  readonly forMs: number;
}

/** Fetches the image of the active catalogue beside the change log. `ImageMachine` decides; this carries it out. */
export class ImageFollower {
  /** Attempts to fetch an image that failed. */
  failures = 0;
  private readonly machine = new ImageMachine();
  /** The next image may be built of it. */
  private inUse: LoadedImage | null = null;
  private fetching = new AbortController();
  private pause: NodeJS.Timeout | undefined;
  private underWay: Promise<void> = Promise.resolve();
  private missingSinceMs = 0;
  /** The pause that the feed API has asked for when the last attempt failed. */
  private retryAfterMs = 0;
  private readonly tried = Promise.withResolvers<undefined>();

  constructor(private readonly options: ImageFollowerOptions) {}

  /** Call it with the image that the configuration in force names, as soon as it is in force. */
  want(image: ActiveCatalogue | null): void {
    if (this.machine.missing === null) this.missingSinceMs = performance.now();
    this.handle({ type: 'wanted', image });
  }

  get counters(): ImageCounters {
    return this.options.images.counters;
  }

  /** The image that is wanted and not in use; null: nothing is missing. */
  get missing(): MissingImage | null {
    const { missing } = this.machine;
    return missing && { sha256: missing.sha256, forMs: performance.now() - this.missingSinceMs };
  }

  /** Resolves when nothing is missing, the first attempt to fetch what is missing has failed, or at `stop`. */
  async firstAttempt(): Promise<void> {
    if (this.machine.missing !== null) await this.tried.promise;
  }

  /** Gives up what is under way. */
  async stop(): Promise<void> {
    this.handle({ type: 'stop' });
    await this.underWay;
  }

  private handle(event: ImageEvent): void {
    for (const effect of this.machine.handle(event)) this.carryOut(effect);
    const { name } = this.machine.phase;
    if (name !== 'restoring' && name !== 'fetching') this.tried.resolve(undefined);
  }

  private carryOut(effect: ImageEffect): void {
    const { log } = this.options;
    switch (effect.type) {
      case 'restore':
        return this.run(() => this.restore(effect.image));
      case 'fetch': {
        this.fetching = new AbortController();
        const { signal } = this.fetching;
        return this.run(() => this.fetch(effect.image, signal));
      }
      case 'abort':
        return this.fetching.abort(new Error('another image is wanted'));
      case 'pause':
        this.pause = setTimeout(
          () => this.handle({ type: 'resumed' }),
          Math.max(this.retryAfterMs, retryDelayMs(effect.failures, Math.random(), LAST_PAUSE_MS)),
        );
        return;
      case 'cancelPause':
        return clearTimeout(this.pause);
      case 'dismiss':
        return this.run(async () => {
          await this.options.use(null);
          this.inUse = null;
          return null;
        });
      case 'reportFailure': {
        this.failures++;
        const { image, reason } = effect;
        const fields = { version: image.version, sha256: image.sha256, reason };
        return log.warn(fields, 'cannot fetch the catalogue image; the one before stays in use');
      }
    }
  }

  /** One after the other. */
  private run(step: () => Promise<ImageEvent | null>): void {
    this.underWay = this.underWay.then(step).then((event) => {
      if (event !== null) this.handle(event);
    });
  }

  private async restore(image: ActiveCatalogue): Promise<ImageEvent> {
    const { images, use, log } = this.options;
    try {
      const found = await images.restore(image);
      if (found !== null) await use(found.bytes);
      this.inUse = found;
      return { type: 'restored', sha256: found?.sha256 ?? null };
    } catch (error) {
      log.warn({ reason: String(error) }, 'the catalogue image on disk cannot be used');
      return { type: 'restored', sha256: null };
    }
  }

  private async fetch(image: ActiveCatalogue, signal: AbortSignal): Promise<ImageEvent> {
    const { images, use, log } = this.options;
    try {
      signal.throwIfAborted();
      const { version, sha256 } = image;
      const bytes = await images.load(image, signal, this.inUse);
      await use(bytes);
      this.inUse = { sha256, bytes };
      log.info({ version, sha256 }, 'the catalogue image is in use');
      return { type: 'fetched' };
    } catch (error) {
      this.retryAfterMs = error instanceof FeedError ? error.retryAfterMs : 0;
      return { type: 'failed', reason: String(error) };
    }
  }
}
