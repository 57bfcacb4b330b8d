import { type Change, type Head, type LogPoint, RowError } from '@weir/config-model';
import { NEW_SNAPSHOT, type Position, type SnapshotPart } from '../protocol/protocol.js';
import { PartsWithHead } from '../protocol/snapshot-stream.js';
import type { FeedLogger } from '../runtime/runtime.js';
import type { ConfigurationStore, Recording } from '../disk/configuration-store.js';
import type { FeedClient } from '../client/feed-client.js';
import { FeedError } from '../client/feed-requests.js';

/** A configuration that was built and is not yet in force. */
export interface BuiltConfiguration {
  readonly revision: number;
  /** Digest that the target computed from the rows it loaded. */
  readonly digest: string;
  /** Puts it in force, in one step. Call it once. */
  swapIn(): void | Promise<void>;
}

/** The rows of a snapshot do not have the digest of its head. */
export class DigestError extends RowError {}

/** The configuration of a process, kept up to date by a follower, which calls one method at a time. */
export interface FollowerTarget {
  /** Builds the configuration of a snapshot without putting it in force. Throws what `parts` throws. */
  build(parts: AsyncIterable<SnapshotPart>): Promise<BuiltConfiguration>;
  /** Applies a change in one step, and waits only for its readers. @returns the digest afterwards: 16 hex digits. */
  apply(change: Change): Promise<string> | string;
  /** Resolves when what the configuration names and the log does not carry is there, or could not be fetched. */
  complete?(): Promise<void>;
  /** Ends what the target does beside the log. */
  stop?(): Promise<void>;
}

/** Longest pause after a snapshot could not be written to disk. */
const RETRY_MS = 60_000;

/** The target's configuration and its copy on disk, if there is a disk. Methods resolve to the head in force. */
export class PersistedConfiguration {
  private recording: Promise<void> | null = null;
  private notBeforeMs = 0;

  constructor(
    private readonly target: FollowerTarget,
    private readonly disk: ConfigurationStore | undefined,
    private readonly log: FeedLogger,
    private readonly retryMs = RETRY_MS,
  ) {}

  /** Puts in force what is on disk, in one step. Null: there is nothing. A damaged file is renamed. */
  async restore(): Promise<Head | null> {
    try {
      const parts = await this.disk?.read();
      if (!parts) return null;
      const head = await this.buildAndSwapIn(parts);
      this.disk?.resume();
      return head;
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

  /** Applies the next change and appends it to what is on disk, where it is after `stored`. */
  async apply(change: Change): Promise<LogPoint> {
    const digest = await this.target.apply(change);
    this.disk?.append(change);
    return { revision: change.revision, digest };
  }

  /** Resolves when what is in force is on disk as well, or the disk fails or is late. */
  async stored(): Promise<void> {
    await this.disk?.stored();
  }

  /** Begins to write a new snapshot when the disk has lost changes and answers again. It puts nothing in force. */
  recordIfDue(snapshot: () => AsyncIterable<SnapshotPart>): void {
    const { disk } = this;
    if (!disk?.isRecordingDue || this.recording !== null || performance.now() < this.notBeforeMs)
      return;
    const recording = disk.record(snapshot());
    this.recording = this.download(recording).then((isDone) => {
      this.recording = null;
      if (isDone) this.log.info({}, 'the disk has the whole configuration again');
      else this.notBeforeMs = performance.now() + this.retryMs * (0.5 + Math.random() / 2);
    });
  }

  async close(): Promise<void> {
    await this.target.stop?.();
    await this.recording;
    await this.disk?.close();
  }

  private async buildAndSwapIn(parts: AsyncIterable<SnapshotPart>): Promise<Head> {
    const read = new PartsWithHead(parts);
    const built = await this.target.build(read);
    const { head } = read;
    if (built.revision !== head?.revision || built.digest !== head.digest) {
      throw new DigestError(
        `the snapshot of revision ${head?.revision ?? '?'} does not have its digest`,
      );
    }
    await built.swapIn();
    return head;
  }

  private async download(recording: Recording): Promise<boolean> {
    try {
      for await (const _ of recording.parts);
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

/** A new snapshot that is older than what is in force. */
class OlderSnapshotError extends Error {}

/** The parts of a snapshot. @throws OlderSnapshotError when it has an earlier revision of this lineage. */
async function* notBefore(
  { lineage, revision }: Position,
  parts: AsyncIterable<SnapshotPart>,
): AsyncGenerator<SnapshotPart> {
  for await (const part of parts) {
    if (part.type === 'head' && part.lineage === lineage && part.revision < revision) {
      throw new OlderSnapshotError(
        `the snapshot of revision ${part.revision} is older than revision ${revision}`,
      );
    }
    yield part;
  }
}

export class SnapshotLoader {
  /** The last snapshot was damaged or wrong. The feed API keeps its snapshots, so it would send the same again. */
  private wasUnusable = false;
  private retryAfterMs = 0;

  constructor(
    private readonly feed: Pick<FeedClient, 'snapshot'>,
    private readonly configuration: Pick<PersistedConfiguration, 'load'>,
  ) {}

  /**
   * Puts a snapshot in force that has at least this revision. An older one of the same log follows only when the feed
   * API was asked for a revision: then it knows that the log was set back.
   */
  async load(atLeast: number, inForce: Head | null): Promise<Head> {
    try {
      const head = await this.configuration.load(this.open(atLeast, inForce));
      this.wasUnusable = false;
      return head;
    } catch (error) {
      if (error instanceof FeedError) this.retryAfterMs = error.retryAfterMs;
      else if (error instanceof RowError) this.wasUnusable = true;
      else if (error instanceof OlderSnapshotError) this.wasUnusable = false;
      throw error;
    }
  }

  private open(atLeast: number, inForce: Head | null): AsyncIterable<SnapshotPart> {
    if (!this.wasUnusable) return this.feed.snapshot(atLeast);
    const parts = this.feed.snapshot(NEW_SNAPSHOT);
    if (inForce === null) return parts;
    const { lineage, revision } = inForce;
    return notBefore({ lineage, revision: Math.min(atLeast, revision) }, parts);
  }

  /** The least pause after the load that has failed, as the feed API has asked for; 0 when asked again. */
  takeRetryAfterMs(): number {
    const { retryAfterMs } = this;
    this.retryAfterMs = 0;
    return retryAfterMs;
  }
}
