import type { FileThread } from './file-thread.js';

/**
 * What is written is flushed to the disk after this many bytes, so that no flush takes long: a slow disk can be told
 * from one that hangs.
 */
const FLUSH_BYTES = 8 * 1024 * 1024;

/** Writes a new file, piece by piece. */
export class FileWriter {
  private unflushedBytes = 0;
  private isClosed = false;

  private constructor(
    private readonly thread: FileThread,
    private readonly path: string,
    private readonly file: number,
  ) {}

  static async create(thread: FileThread, path: string): Promise<FileWriter> {
    return new FileWriter(thread, path, await thread.call('create', path));
  }

  /** @param data bytes are transferred: the caller cannot use them afterwards. */
  async write(data: string | Uint8Array): Promise<void> {
    this.unflushedBytes += data.length;
    await this.thread.call('write', this.file, data);
    if (this.unflushedBytes > FLUSH_BYTES) await this.flush();
  }

  /** Flushes and closes the file. */
  async finish(): Promise<void> {
    await this.flush();
    await this.close();
  }

  /** Closes and removes the file. */
  async abandon(): Promise<void> {
    try {
      await this.close();
    } finally {
      await this.thread.call('remove', this.path);
    }
  }

  private async flush(): Promise<void> {
    this.unflushedBytes = 0;
    await this.thread.call('flush', this.file);
  }

  private async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await this.thread.call('close', this.file);
  }
}
