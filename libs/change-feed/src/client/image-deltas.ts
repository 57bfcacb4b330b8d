import type { ActiveCatalogue } from '@weir/config-model';
import { mostDeltaBytes } from '../protocol/protocol.js';
import type { FeedLogger } from '../runtime/runtime.js';
import { decompressed, FeedError, StatusError } from './feed-requests.js';
import type { FeedClient } from './feed-client.js';
import type { Allocate } from './image-files.js';

/** An image whose bytes have been verified. */
export interface LoadedImage {
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

/** Builds an image of another one and a delta, in room of its size. What it returns is not verified. */
export type BuildImage = (
  base: Uint8Array,
  delta: AsyncIterable<Uint8Array>,
  room: Uint8Array,
  signal?: AbortSignal,
) => Promise<{ readonly image: Uint8Array; readonly sha256: string }>;

/** After so many attempts that the feed API did not answer well, an image is downloaded whole. */
const MOST_ATTEMPTS = 5;
const NOT_FOUND = 404;

/** Builds catalogue images of the one in use and a delta from the feed API. */
export class ImageDeltas {
  /** Images that were built, and deltas that could not be used. */
  readonly counters = { built: 0, faults: 0 };
  /** The image that was asked for last, and the attempts to build it. */
  private sha256 = '';
  private attempts = 0;

  constructor(
    private readonly feed: FeedClient,
    private readonly buildImage: BuildImage,
    private readonly allocate: Allocate,
    private readonly log: FeedLogger,
  ) {}

  /**
   * The image, verified against its sha256; null: it has to be downloaded whole.
   * @throws FeedError when the feed API is busy or cannot be reached: it is worth another attempt; the reason of
   *   `signal`.
   */
  async build(
    base: LoadedImage,
    wanted: ActiveCatalogue,
    signal?: AbortSignal,
  ): Promise<Uint8Array | null> {
    if (this.sha256 !== wanted.sha256) this.attempts = 0;
    this.sha256 = wanted.sha256;
    if (this.attempts >= MOST_ATTEMPTS) return null;
    this.attempts++;
    try {
      const image = await this.buildNow(base, wanted, signal);
      this.counters.built++;
      return image;
    } catch (error) {
      signal?.throwIfAborted();
      const isLast = this.attempts >= MOST_ATTEMPTS;
      if (error instanceof FeedError && !error.isRefusal && !isLast) throw error;
      this.attempts = MOST_ATTEMPTS;
      this.report(error, wanted);
      return null;
    }
  }

  private async buildNow(
    base: LoadedImage,
    { sha256, sizeBytes }: ActiveCatalogue,
    signal?: AbortSignal,
  ): Promise<Uint8Array> {
    const compressed = await this.feed.imageDelta(base.sha256, sha256, signal);
    const delta = limited(compressed, mostDeltaBytes(base.bytes.length));
    // Not before there is a delta: an image may be large.
    const room = this.allocate(sizeBytes);
    const built = await this.buildImage(base.bytes, delta, room, signal);
    if (built.sha256 !== sha256)
      throw new Error('the image that it makes is not the announced one');
    return built.image;
  }

  private report(error: unknown, { version }: ActiveCatalogue): void {
    // There is no delta: that is no fault.
    if (error instanceof StatusError && error.status === NOT_FOUND) return;
    this.counters.faults++;
    const fields = { version, reason: String(error) };
    this.log.warn(fields, 'cannot build the catalogue image of a delta; it is downloaded whole');
  }
}

/** The bytes of the delta, up to a bound. */
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
