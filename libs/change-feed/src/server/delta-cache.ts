import { mostDeltaBytes } from '../protocol/protocol.js';
import type { FeedLogger } from '../runtime/runtime.js';
import { compressed, type CachedFile, CacheFolder } from './cached-file.js';

export interface ImageDelta {
  readonly baseBytes: number;
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface DeltaSource {
  /** Null: one of the images is not stored. Nothing is read before its bytes are asked for. */
  imageDelta(baseSha256: string, sha256: string): Promise<ImageDelta | null>;
}

export interface DeltaCacheOptions {
  /** Folder for files without names. Several processes may use it. */
  readonly folder: string;
  readonly source: DeltaSource;
  readonly log: FeedLogger;
  readonly isOutage: (error: unknown) => boolean;
  readonly nowMs?: () => number;
}

/** A delta that is there or being made; null: there is none to be had. */
interface CachedDelta {
  readonly file: Promise<CachedFile | null>;
  /** When it is made again, because it failed. */
  untilMs: number;
}

/** Images that can be had are few: the active one and two before it. */
const MOST_DELTAS = 4;
/** A delta that could not be made or kept is not tried again for this time. */
const FAILED_MS = 30_000;

/** The deltas between catalogue images that the feed API sends: each made once, compressed, and sent to any number. */
export class DeltaCache {
  /** Deltas that were made, that would have been too large, and that could not be made or kept. */
  readonly counts = { made: 0, too_large: 0, failed: 0 };
  /** By base and image; the one that was asked for last is the last one. */
  private readonly deltas = new Map<string, CachedDelta>();
  /** Those that are being made. Each reads the database, and one that is slow holds up no other. */
  private readonly making = new Set<{ readonly sinceMs: number }>();
  private lastMakingMs = 1_000;
  private isClosed = false;
  private readonly folder: CacheFolder;
  private readonly nowMs: () => number;

  constructor(private readonly options: DeltaCacheOptions) {
    this.folder = new CacheFolder(options.folder);
    this.nowMs = options.nowMs ?? (() => performance.now());
  }

  /** About how long it takes to make one: as long as the last one, or as the slowest has taken so far. */
  get durationMs(): number {
    const soFarMs = Array.from(this.making, ({ sinceMs }) => this.nowMs() - sinceMs);
    return Math.max(1_000, this.lastMakingMs, ...soFarMs);
  }

  /** The delta, if need be a new one; the caller releases it. Null: there is none. @throws the source, in an outage. */
  async get(baseSha256: string, sha256: string): Promise<CachedFile | null> {
    const key = `${baseSha256} ${sha256}`;
    for (;;) {
      const cached = this.find(key) ?? (await this.begin(key, baseSha256, sha256));
      const delta = cached && (await cached.file);
      if (delta === null || delta.hold()) return delta;
      // The disk does not give it back.
      this.forget(key, cached);
    }
  }

  close(): void {
    this.isClosed = true;
    for (const [key, cached] of this.deltas) this.forget(key, cached);
  }

  private find(key: string): CachedDelta | null {
    const cached = this.deltas.get(key);
    if (cached === undefined) return null;
    this.deltas.delete(key);
    if (cached.untilMs < this.nowMs()) return null;
    this.deltas.set(key, cached);
    return cached;
  }

  private async begin(
    key: string,
    baseSha256: string,
    sha256: string,
  ): Promise<CachedDelta | null> {
    const delta = await this.options.source.imageDelta(baseSha256, sha256);
    if (delta === null) return null;
    // Somebody else may have begun meanwhile.
    const other = this.find(key);
    if (other !== null || this.isClosed || this.making.size >= MOST_DELTAS) return other;
    const making = { sinceMs: this.nowMs() };
    this.making.add(making);
    const file = Promise.resolve()
      .then(() => this.make(delta, cached))
      .finally(() => this.making.delete(making));
    const cached: CachedDelta = { file, untilMs: Infinity };
    file.catch(() => this.forget(key, cached));
    this.deltas.set(key, cached);
    for (const [old, least] of this.deltas) {
      if (this.deltas.size > MOST_DELTAS) this.forget(old, least);
    }
    return cached;
  }

  private forget(key: string, cached: CachedDelta | null): void {
    if (this.deltas.get(key) === cached) this.deltas.delete(key);
    cached?.file.then(
      (delta) => delta?.retire(),
      () => undefined,
    );
  }

  private async make(delta: ImageDelta, cached: CachedDelta): Promise<CachedFile | null> {
    const { log, isOutage, folder } = this.options;
    const startedMs = this.nowMs();
    try {
      const file = await this.folder.write(compressed(limited(delta)));
      this.lastMakingMs = this.nowMs() - startedMs;
      this.counts.made++;
      const fields = { sizeBytes: file.sizeBytes, durationMs: Math.round(this.lastMakingMs) };
      log.info(fields, 'a delta between catalogue images was made');
      return file;
    } catch (error) {
      if (error instanceof TooLargeError) {
        this.counts.too_large++;
        log.info({}, 'catalogue images differ too much for a delta');
        return null;
      }
      this.counts.failed++;
      log.warn(
        { reason: String(error), folder },
        'a delta between catalogue images cannot be made',
      );
      if (isOutage(error)) throw error;
      cached.untilMs = this.nowMs() + FAILED_MS;
      return null;
    }
  }
}

class TooLargeError extends Error {}

async function* limited({ baseBytes, bytes }: ImageDelta): AsyncGenerator<Uint8Array> {
  let left = mostDeltaBytes(baseBytes);
  for await (const piece of bytes) {
    left -= piece.length;
    if (left < 0) throw new TooLargeError('the delta is larger than it may be');
    yield piece;
  }
}
