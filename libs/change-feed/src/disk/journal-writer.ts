import { FileThread } from '../files/file-thread.js';
import { endsWithin } from '../runtime/ends-within.js';

/** Longest time that an acknowledgement waits for the journal: half the default of PROPAGATION_TIMEOUT_MS. */
const LATE_MS = 500;
/** Longest time for a replacement of the journal, and for what waits when the process stops. */
const PATIENCE_MS = 5_000;
/** Most bytes that wait for a disk that is late. */
const MAX_BACKLOG_BYTES = 8 * 1024 * 1024;

/**
 * Writes the journal on a thread of its own, because a change must not wait for the flush of a large file. A disk that
 * is slow or hangs for a while is waited for, as long as the changes that wait for it are few.
 */
export class JournalWriter {
  /** Size of the journal. */
  bytes = 0;
  private isOpen = false;
  private isLate = false;
  private replacements = 0;
  /** Calls without an answer, and the bytes in them. */
  private pending = 0;
  private backlogBytes = 0;
  private last: Promise<void> = Promise.resolve();

  constructor(
    private readonly onFailure: (error: unknown) => void,
    private readonly thread = new FileThread({ patienceMs: Infinity }),
  ) {}

  /** Whether a change that is appended now will be in the journal. */
  get isAvailable(): boolean {
    return this.isOpen || this.replacements > 0;
  }

  /** Whether the disk keeps changes waiting for too long. */
  get isBehind(): boolean {
    return this.isLate || this.thread.isHanging;
  }

  /** Opens a journal to append to it; what is behind its first bytes is cut off. */
  open(path: string, lengthBytes: number): void {
    this.isOpen = true;
    this.bytes = lengthBytes;
    void this.follow(this.thread.call('openJournal', path, lengthBytes));
  }

  /** Appends a line. Nobody waits for that but the callers of `stored`. */
  append(line: string): void {
    if (!this.isAvailable) return;
    const lengthBytes = Buffer.byteLength(line);
    this.bytes += lengthBytes;
    this.backlogBytes += lengthBytes;
    if (this.isLate && this.backlogBytes > MAX_BACKLOG_BYTES) this.thread.giveUp();
    const appended = this.thread.call('append', line).finally(() => {
      this.backlogBytes -= lengthBytes;
    });
    void this.follow(appended);
  }

  /** As `fileCalls.replace`. @throws Error when that fails; then the old journal goes on, if there was one. */
  async replace(folder: string, newSnapshot: string, lines: string): Promise<void> {
    const lengthBytes = Buffer.byteLength(lines);
    const before = this.bytes;
    // What is appended from now on goes to the new journal.
    this.replacements++;
    this.bytes = lengthBytes;
    const replaced = this.thread.call('replace', folder, newSnapshot, lines).then(
      () => {
        this.replacements--;
        this.isOpen = true;
      },
      (error: unknown) => {
        this.replacements--;
        this.bytes += before - lengthBytes;
        throw error;
      },
    );
    this.remember(replaced);
    if (!(await endsWithin(replaced, PATIENCE_MS))) this.thread.giveUp();
    await replaced;
  }

  /** Nothing can be appended until the journal is replaced. */
  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.bytes = 0;
    void this.follow(this.thread.call('closeJournal'));
  }

  /** Resolves when all that was appended is in the journal, or cannot be, or the disk is late. */
  async stored(): Promise<void> {
    if (this.pending === 0 || this.isBehind || (await endsWithin(this.last, LATE_MS))) return;
    this.isLate = this.pending > 0;
  }

  /** Ends the thread when all that was appended is in the journal, or the disk does not answer. */
  async end(): Promise<void> {
    this.close();
    await endsWithin(this.last, PATIENCE_MS);
    await this.thread.close();
  }

  private async follow(call: Promise<void>): Promise<void> {
    const followed = call.catch((error: unknown) => {
      if (this.isOpen) this.onFailure(error);
      this.isOpen = false;
      this.bytes = 0;
    });
    this.remember(followed);
    await followed;
  }

  private remember(call: Promise<void>): void {
    this.pending++;
    this.last = call
      .catch(() => undefined)
      .then(() => {
        this.pending--;
        if (this.pending === 0) this.isLate = false;
      });
  }
}
