import { type Change, type Head, type LogPoint, RowError } from '@weir/config-model';
import type { ImageCounters } from '../client/catalogue-images.js';
import type { MissingImage } from '../client/image-follower.js';
import { Yielder } from '../runtime/yielder.js';
import type { SnapshotPart } from '../protocol/protocol.js';
import type { FeedLogger } from '../runtime/feed-logger.js';
import type { SnapshotDisk } from '../disk/snapshot-disk.js';

/** A configuration that was built and is not yet in force. */
export interface BuiltConfiguration {
  readonly revision: number;
  /** Digest that the target computed from the rows it loaded. */
  readonly digest: string;
  /**
   * Applies a change that comes after it. Call it before `swapIn`.
   * @returns the digest afterwards: 16 hex digits.
   */
  apply(change: Change): Promise<string> | string;
  /** Puts it in force, in one step. Call it once. */
  swapIn(): void | Promise<void>;
}

/** The rows of a snapshot do not have the digest of its head. */
export class DigestError extends RowError {}

/** The configuration of a process, kept up to date by a follower, which calls one method at a time. */
export interface FollowerTarget {
  /** Builds the configuration of a snapshot without putting it in force. Throws what `parts` throws. */
  build(parts: AsyncIterable<SnapshotPart>): Promise<BuiltConfiguration>;
  /**
   * Applies the change to the configuration in force, in one step, and waits for nothing but its readers.
   * @returns the digest afterwards: 16 hex digits.
   */
  apply(change: Change): Promise<string> | string;
  /** The catalogue image that the configuration in force names and that is not in use; null: none is missing. */
  readonly missingImage?: MissingImage | null;
  /** Attempts to fetch an image that failed. */
  readonly imageFailures?: number;
  /** Images that were fetched. */
  readonly imageCounters?: ImageCounters;
  /** Resolves when what the configuration names and the log does not carry is there, or could not be fetched. */
  complete?(): Promise<void>;
  /** Ends what the target does beside the log. */
  stop?(): Promise<void>;
}

/** Longest pause after a snapshot could not be written to disk. */
const RETRY_MS = 60_000;

/** The target's configuration and its copy on disk, if there is a disk. Methods resolve to the head in force. */
export class PersistedConfiguration {
  private compacting: Promise<void> = Promise.resolve();
  private isCompacting = false;
  private notBeforeMs = 0;

  constructor(
    private readonly target: FollowerTarget,
    private readonly disk: SnapshotDisk | undefined,
    private readonly log: FeedLogger,
    private readonly retryMs = RETRY_MS,
  ) {}

  /**
   * Puts in force what is on disk: the snapshot with all changes of the journal, in one step. Damaged files are
   * renamed.
   * @returns null when there is nothing to start from.
   */
  async restore(): Promise<Head | null> {
    try {
      const state = await this.disk?.read();
      if (!state) return null;
      const { built, head } = await this.build(state.parts);
      let point: LogPoint = head;
      for (const change of state.changes) {
        // The first ones may be part of the snapshot.
        if (change.revision !== point.revision + 1) continue;
        point = { revision: change.revision, digest: await built.apply(change) };
        if (point.digest !== change.digest)
          throw new RowError('a change of the journal does not lead to its digest');
      }
      await built.swapIn();
      this.disk?.resume(point.revision);
      return { ...head, ...point };
    } catch (error) {
      if (error instanceof RowError) await this.disk?.setAside(error.message);
      else this.log.warn({ reason: String(error) }, 'the configuration on disk cannot be read');
      return null;
    }
  }

  /** Puts a snapshot in force and on disk. @throws RowError when it is damaged; then the old configuration stays. */
  async load(parts: AsyncIterable<SnapshotPart>): Promise<Head> {
    if (!this.disk) return this.buildAndSwapIn(parts);
    const recording = this.disk.record(parts);
    try {
      const head = await this.buildAndSwapIn(recording.parts);
      // Later changes follow this configuration, not the one that is still on disk.
      if (!(await recording.commit())) this.disk.discontinue();
      return head;
    } catch (error) {
      await recording.discard();
      throw error;
    }
  }

  /** Applies the next change and appends it to the journal, where it is after `stored`. */
  async apply(change: Change): Promise<LogPoint> {
    const yielder = new Yielder();
    const digest = await this.target.apply(change);
    await yielder.yieldIfDue();
    await this.disk?.append(change);
    return { revision: change.revision, digest };
  }

  /** Resolves when what is in force is on disk as well, or the disk fails or is late. */
  async stored(): Promise<void> {
    await this.disk?.stored();
  }

  /**
   * Begins to write a new snapshot to disk when the journal is long or has failed: from the files on the disk, or from
   * the feed API when the disk has lost changes. The configuration in force is not touched.
   */
  compactIfDue(snapshot: () => AsyncIterable<SnapshotPart>): void {
    const { disk } = this;
    if (!disk || this.isCompacting || performance.now() < this.notBeforeMs) return;
    if (!disk.canRecord || !disk.isRecordingDue) return;
    this.isCompacting = true;
    const compacting = disk.canCompact ? disk.compact() : this.download(disk, snapshot());
    this.compacting = compacting.then((isDone) => {
      this.isCompacting = false;
      if (isDone) this.log.info({}, 'a new snapshot on disk replaces the journal');
      else this.notBeforeMs = performance.now() + this.retryMs * (0.5 + Math.random() / 2);
    });
  }

  async close(): Promise<void> {
    await this.target.stop?.();
    this.disk?.abandonCompaction();
    await this.compacting;
    await this.disk?.close();
  }

  private async buildAndSwapIn(parts: AsyncIterable<SnapshotPart>): Promise<Head> {
    const { built, head } = await this.build(parts);
    await built.swapIn();
    return head;
  }

  private async build(
    parts: AsyncIterable<SnapshotPart>,
  ): Promise<{ readonly built: BuiltConfiguration; readonly head: Head }> {
    const heads: Head[] = [];
    async function* noticeHead(): AsyncGenerator<SnapshotPart> {
      for await (const part of parts) {
        if (part.type === 'head') heads.push(part);
        yield part;
      }
    }
    const built = await this.target.build(noticeHead());
    const [head] = heads;
    if (built.revision !== head?.revision || built.digest !== head.digest) {
      throw new DigestError(
        `the snapshot of revision ${head?.revision ?? '?'} does not have its digest`,
      );
    }
    const { lineage, revision, digest } = head;
    return { built, head: { lineage, revision, digest } };
  }

  private async download(disk: SnapshotDisk, parts: AsyncIterable<SnapshotPart>): Promise<boolean> {
    const recording = disk.record(parts);
    try {
      await readToEnd(recording.parts);
      return await recording.commit();
    } catch (error) {
      await recording.discard();
      this.log.warn(
        { reason: String(error) },
        'cannot write a new snapshot to disk; trying again later',
      );
      return false;
    }
  }
}

async function readToEnd(parts: AsyncIterable<SnapshotPart>): Promise<void> {
  const iterator = parts[Symbol.asyncIterator]();
  while (!(await iterator.next()).done);
}
