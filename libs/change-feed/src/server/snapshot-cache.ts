import type { Head } from '@weir/config-model';
import { NEW_SNAPSHOT, type SnapshotPart } from '../protocol/protocol.js';
import { PartsWithHead, writeSnapshot } from '../protocol/snapshot-stream.js';
import type { FeedLogger } from '../runtime/runtime.js';
import { compressed, type CachedFile, CacheFolderError, CacheFolder } from './cached-file.js';

/** A snapshot on the disk, compressed; and when it began to be made. */
export type CachedSnapshot = CachedFile & {
  readonly head: Head;
  readonly madeMs: number;
  /** Until then it is sent however old it is. */
  readonly leastUntilMs: number;
};

export interface SnapshotSource {
  /** The configuration at one revision: the head, then all rows, kinds in the order of `ENTITY_KINDS`. */
  snapshot(): AsyncIterable<SnapshotPart>;
  /** The head of the log, and whether the log has this point and every change after it. */
  continuation(point: Head): Promise<{ readonly head: Head; readonly isContinued: boolean }>;
}

export interface SnapshotCacheOptions {
  /** Folder for files without names. Several processes may use it. */
  readonly folder: string;
  readonly source: SnapshotSource;
  readonly log: FeedLogger;
  /** A snapshot that is older is replaced by a new one as soon as somebody asks. */
  readonly maxAgeMs: number;
  /** The same for one that is further behind the log. */
  readonly maxRevisions: number;
  readonly nowMs?: () => number;
}

/** While a new snapshot is made, the old one is sent until it is this many times as old, or as far behind. */
export const STALE_WINDOWS = 4;
/** A follower that could not use a snapshot gets the same again until it is this old: not all make a new one. */
const DOUBTED_MS = 10_000;
/** How long after a snapshot is ready those who wait for it ask again. */
const FETCHED_MS = 5_000;
/** After the disk has failed, it is not tried again for this time. */
const DISK_PAUSE_MS = 30_000;

/**
 * The snapshot that the feed API sends: made once, compressed, and sent to any number of followers, which go on with
 * the log from there. It is sent as long as the log has its revision, with its digest, and every change after it.
 */
export class SnapshotCache {
  /** Snapshots that were made, and those that could not be made or kept. */
  made = 0;
  failed = 0;
  private current: CachedSnapshot | null = null;
  private isClosed = false;
  private making: Promise<CachedSnapshot> | null = null;
  private begun = 0;
  private makingSinceMs = 0;
  private lastMakingMs = 1_000;
  private diskFailedMs = -Infinity;
  private readonly folder: CacheFolder;
  private readonly nowMs: () => number;

  constructor(private readonly options: SnapshotCacheOptions) {
    this.folder = new CacheFolder(options.folder);
    this.nowMs = options.nowMs ?? (() => performance.now());
  }

  get cached(): Pick<CachedSnapshot, 'head' | 'sizeBytes'> | null {
    return this.current;
  }

  /** About how long it will take until the snapshot is there that is being made. */
  get remainingMs(): number {
    if (this.making === null) return 0;
    return Math.max(1_000, this.makingSinceMs + this.lastMakingMs - this.nowMs());
  }

  /**
   * A snapshot that does, if need be a new one. The caller releases it.
   * @param atLeast the least revision that does. `NEW_SNAPSHOT`: the last one did not do.
   * @throws CacheFolderError when it cannot be kept on the disk; what the source throws.
   */
  async get(atLeast: number): Promise<CachedSnapshot> {
    const { begun } = this;
    for (;;) {
      const usable = await this.usable(atLeast);
      if (usable !== null) return usable;
      // What was begun before this call may be too old.
      const isNew = this.making === null || this.begun > begun;
      const snapshot = await (this.making ?? this.make());
      if (isNew && snapshot.hold()) return snapshot;
    }
  }

  /** What is being made is given up when it is there: its source may be slow. */
  close(): void {
    this.isClosed = true;
    this.replace(null);
  }

  /** The current snapshot, held; null: it does not do. */
  private async usable(atLeast: number): Promise<CachedSnapshot | null> {
    const snapshot = this.current;
    if (snapshot === null) return null;
    const { head, isContinued } = await this.options.source.continuation(snapshot.head);
    if (snapshot !== this.current) return this.usable(atLeast);
    const windows = this.windowsOf(snapshot, head);
    const isTooOld = windows > STALE_WINDOWS && this.nowMs() > snapshot.leastUntilMs;
    if (!isContinued || snapshot.isLost || isTooOld) {
      this.replace(null);
      return null;
    }
    if (!this.reaches(snapshot, atLeast, head)) return null;
    if (windows > 1 && this.making === null) this.make().catch(() => undefined);
    return snapshot.hold() ? snapshot : null;
  }

  private reaches(snapshot: CachedSnapshot, atLeast: number, head: Head): boolean {
    // A follower at the head asks for the next revision. If one asks for more, the log was set back behind it, or the
    // last snapshot did not do.
    if (atLeast > head.revision + 1) {
      const isRecent = this.nowMs() < Math.max(snapshot.madeMs + DOUBTED_MS, snapshot.leastUntilMs);
      return isRecent || (atLeast < NEW_SNAPSHOT && snapshot.head.revision === head.revision);
    }
    return snapshot.head.revision >= Math.min(atLeast, head.revision);
  }

  /** How often the window has passed since it was made. What is at the head is never too old. */
  private windowsOf(snapshot: CachedSnapshot, head: Head): number {
    const { maxAgeMs, maxRevisions } = this.options;
    const behind = head.revision - snapshot.head.revision;
    if (behind === 0) return 0;
    return Math.max((this.nowMs() - snapshot.madeMs) / maxAgeMs, behind / maxRevisions);
  }

  private make(): Promise<CachedSnapshot> {
    this.begun++;
    this.makingSinceMs = this.nowMs();
    this.making = this.makeNow().finally(() => {
      this.making = null;
    });
    return this.making;
  }

  private async makeNow(): Promise<CachedSnapshot> {
    const { folder, source, log } = this.options;
    const startedMs = this.makingSinceMs;
    if (startedMs < this.diskFailedMs + DISK_PAUSE_MS)
      throw new CacheFolderError('the disk failed');
    try {
      const parts = new PartsWithHead(source.snapshot());
      const file = await this.folder.write(compressed(writeSnapshot(parts)));
      if (parts.head === null) throw new Error('a snapshot without a head');
      const nowMs = this.nowMs();
      this.lastMakingMs = nowMs - startedMs;
      const snapshot = Object.assign(file, {
        head: parts.head,
        madeMs: startedMs,
        // If making takes longer than four windows, every snapshot is too old when it is ready.
        leastUntilMs: nowMs + this.lastMakingMs + FETCHED_MS,
      });
      if (this.isClosed) {
        snapshot.retire();
        throw new Error('the snapshots were closed');
      }
      this.made++;
      this.replace(snapshot);
      const { head, sizeBytes } = snapshot;
      const durationMs = Math.round(this.lastMakingMs);
      log.info({ revision: head.revision, sizeBytes, durationMs }, 'a snapshot was made');
      return snapshot;
    } catch (error) {
      this.failed++;
      if (error instanceof CacheFolderError) {
        this.diskFailedMs = this.nowMs();
        log.error({ reason: error.message, folder }, 'a snapshot cannot be kept on disk');
      } else log.warn({ reason: String(error) }, 'a snapshot cannot be made');
      throw error;
    }
  }

  private replace(snapshot: CachedSnapshot | null): void {
    this.current?.retire();
    this.current = snapshot;
  }
}
