import type { ActiveCatalogue } from '@weir/config-model';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FeedLogger, retryDelayMs } from '../runtime/runtime.js';
import type { CatalogueImages, ImageCounters, LoadedImage } from './catalogue-images.js';
import { FeedError } from './feed-requests.js';

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

/**
 * Fetches the image of the active catalogue beside the change log, which never waits for it. Until the image that is
 * wanted is in use, the one before stays; at a start, it is one from the disk.
 */
export class ImageFollower {
  failures = 0;
  private wanted: ActiveCatalogue | null = null;
  /** The next image may be built of it. Its version is null if it is another one from the disk than was wanted. */
  private inUse: (LoadedImage & { readonly version: number | null }) | null = null;
  private missingSinceMs = 0;
  /** Aborted when another image is wanted: a fetch is given up, and a pause ends. */
  private attempt = new AbortController();
  private running: Promise<void> | null = null;
  private isStopped = false;
  private readonly tried = Promise.withResolvers<undefined>();

  constructor(private readonly options: ImageFollowerOptions) {}

  /** Call it with the image that the configuration in force names, as soon as it is in force. Null: it names none. */
  want(image: ActiveCatalogue | null): void {
    if (this.isStopped || image?.sha256 === this.wanted?.sha256) return;
    if (this.missing === null) this.missingSinceMs = performance.now();
    this.wanted = image;
    this.attempt.abort(new Error('another image is wanted'));
    this.running ??= this.run();
  }

  /** Of the image in use; null: there is none, or it is not known. */
  get version(): number | null {
    return this.inUse?.version ?? null;
  }

  get counters(): ImageCounters {
    return this.options.images.counters;
  }

  /** The image that is wanted and not in use; null: nothing is missing. */
  get missing(): MissingImage | null {
    if (this.wanted === null || this.isSettled) return null;
    return { sha256: this.wanted.sha256, forMs: performance.now() - this.missingSinceMs };
  }

  /** Resolves when nothing is missing, the first attempt to fetch what is missing has failed, or at `stop`. */
  async firstAttempt(): Promise<void> {
    if (this.missing !== null) await this.tried.promise;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.attempt.abort(new Error('the process stops'));
    this.tried.resolve(undefined);
    await this.running;
  }

  private get isSettled(): boolean {
    return this.inUse?.sha256 === this.wanted?.sha256;
  }

  private async run(): Promise<void> {
    let hasLookedOnDisk = false;
    let failures = 0;
    while (!this.isSettled && !this.isStopped) {
      const { wanted } = this;
      const { signal } = (this.attempt = new AbortController());
      if (wanted === null) {
        this.inUse = null;
        await this.options.use(null);
      } else if (this.inUse === null && !hasLookedOnDisk) {
        hasLookedOnDisk = true;
        await this.restore(wanted);
      } else {
        const retryAfterMs = await this.fetch(wanted, signal);
        if (retryAfterMs === null || signal.aborted) {
          failures = 0;
          continue;
        }
        this.tried.resolve(undefined);
        const delayMs = retryDelayMs(failures++, Math.random(), LAST_PAUSE_MS);
        const pauseMs = Math.max(retryAfterMs, delayMs);
        await sleep(pauseMs, undefined, { signal }).catch(() => (failures = 0));
      }
    }
    this.running = null;
    this.tried.resolve(undefined);
  }

  private async restore(image: ActiveCatalogue): Promise<void> {
    const { images, use, log } = this.options;
    try {
      const found = await images.restore(image);
      if (found !== null) await use(found.bytes);
      const version = found?.sha256 === image.sha256 ? image.version : null;
      this.inUse = found && { ...found, version };
    } catch (error) {
      log.warn({ reason: String(error) }, 'the catalogue image on disk cannot be used');
    }
  }

  /** @returns null: it is in use; or the least pause before another attempt, as the feed API has asked for */
  private async fetch(image: ActiveCatalogue, signal: AbortSignal): Promise<number | null> {
    const { images, use, log } = this.options;
    const { version, sha256 } = image;
    try {
      const bytes = await images.load(image, signal, this.inUse);
      await use(bytes);
      this.inUse = { version, sha256, bytes };
      log.info({ version, sha256 }, 'the catalogue image is in use');
      return null;
    } catch (error) {
      if (!signal.aborted) {
        this.failures++;
        const fields = { version, sha256, reason: String(error) };
        log.warn(fields, 'cannot fetch the catalogue image; the one before stays in use');
      }
      return error instanceof FeedError ? error.retryAfterMs : 0;
    }
  }
}
