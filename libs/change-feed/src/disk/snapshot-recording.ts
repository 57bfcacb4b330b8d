import type { SnapshotPart } from '../protocol/protocol.js';
import type { Recording } from './disk-state.js';
import type { SnapshotFileWriter } from './snapshot-file.js';

export interface SnapshotRecordingOptions {
  readonly parts: AsyncIterable<SnapshotPart>;
  /** Creates the file. @throws when the disk fails */
  readonly create: () => Promise<SnapshotFileWriter>;
  /** Whether no other recording has begun since. */
  readonly isLatest: () => boolean;
  /** Puts the file, which is complete, in the place of the old snapshot. */
  readonly replace: (revision: number) => Promise<true>;
  /** Called when there will be no snapshot. */
  readonly onAbandon: () => void;
  /** Called with each error of the disk. */
  readonly onError: (error: unknown) => void;
}

/** Writes the parts of a snapshot to a file as they are read. The reader gets them whether or not the disk works. */
export class SnapshotRecording implements Recording {
  readonly parts: AsyncIterable<SnapshotPart>;
  /** Null: before the first part, and when the disk has failed. */
  private writer: SnapshotFileWriter | null = null;

  constructor(private readonly options: SnapshotRecordingOptions) {
    this.parts = this.tee();
  }

  commit(): Promise<boolean> {
    return this.attempt(async () => {
      await this.writer?.finish();
      if (this.writer !== null && this.options.isLatest()) {
        return this.options.replace(this.writer.revision);
      }
      await this.discard();
      return false;
    });
  }

  async discard(): Promise<void> {
    this.options.onAbandon();
    const { writer } = this;
    this.writer = null;
    // The reader must get the snapshot even if the file cannot be removed.
    await writer?.abandon().catch(this.options.onError);
  }

  private async *tee(): AsyncGenerator<SnapshotPart> {
    await this.attempt(async () => {
      this.writer = await this.options.create();
    });
    for await (const part of this.options.parts) {
      const { writer } = this;
      if (writer !== null) await this.attempt(() => writer.write(part));
      yield part;
    }
  }

  private async attempt<T>(step: () => Promise<T>): Promise<T | false> {
    try {
      return await step();
    } catch (error) {
      this.options.onError(error);
      await this.discard();
      return false;
    }
  }
}
