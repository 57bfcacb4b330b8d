import type { StoredBytes } from './cached-file.js';

class SentDownloads {
  /** Downloads that were begun. A download that is continued counts again. */
  downloads = 0;
  bytes = 0;

  /** The same bytes; they count when they are read. */
  counted(stored: StoredBytes): StoredBytes {
    this.downloads++;
    return {
      sizeBytes: stored.sizeBytes,
      read: (start, end) => this.count(stored.read(start, end)),
    };
  }

  private async *count(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      this.bytes += piece.length;
      yield piece;
    }
  }
}

const FIRST_DOWNLOAD_MS = 5_000;
const NEWEST_SHARE = 0.1;
const LONGEST_WAIT_MS = 300_000;

/**
 * Limits how many downloads are sent at the same time. Who finds no place is told when to ask again: each a little
 * later than the one before, as places become free, so that they do not ask again all at once.
 */
export class DownloadPool {
  active = 0;
  refused = 0;
  private meanMs = FIRST_DOWNLOAD_MS;
  /** When the last of those that were refused will have found a place. */
  private queueEndMs = -Infinity;

  constructor(
    private readonly places: number,
    private readonly nowMs: () => number = () => performance.now(),
    private readonly random: () => number = Math.random,
  ) {}

  /** Takes a place. @returns a function that gives it back; null: there is none. */
  enter(): (() => void) | null {
    if (this.active >= this.places) return null;
    this.active++;
    const startedMs = this.nowMs();
    return () => {
      this.active--;
      this.meanMs += NEWEST_SHARE * (this.nowMs() - startedMs - this.meanMs);
    };
  }

  /** The seconds after which one that finds no place should come again. @param leastMs it is of no use before. */
  retryAfterSeconds(leastMs = 0): number {
    this.refused++;
    const nowMs = this.nowMs();
    const stepMs = this.meanMs / this.places;
    this.queueEndMs = Math.max(this.queueEndMs, nowMs + leastMs) + stepMs;
    const waitMs = Math.min(this.queueEndMs - nowMs, LONGEST_WAIT_MS);
    // Never before its turn, unless the queue is longer than the longest wait.
    const jittered =
      waitMs < LONGEST_WAIT_MS
        ? waitMs + this.random() * stepMs
        : LONGEST_WAIT_MS * (0.5 + this.random() / 2);
    return Math.max(1, Math.ceil(jittered / 1000));
  }
}

/** Each kind of download has places of its own, so that none waits for another. */
export interface FeedDownloads {
  readonly snapshots: DownloadPool;
  readonly images: DownloadPool;
  readonly sent: { readonly image: SentDownloads; readonly delta: SentDownloads };
  /** Snapshots that cannot be kept on the disk: each has a connection to the database. */
  readonly withoutDisk: DownloadPool;
}

/** Places for this many snapshots, and for as many images and deltas of images. */
export function feedDownloads(places: number): FeedDownloads {
  return {
    snapshots: new DownloadPool(places),
    images: new DownloadPool(places),
    sent: { image: new SentDownloads(), delta: new SentDownloads() },
    withoutDisk: new DownloadPool(2),
  };
}
